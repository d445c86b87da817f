//! The engine's tests, one binary. Each module has a line that says what belongs there.

// Models over HTTP: replies, failures, retries, the bytes of requests, the choice of a model.
mod provider;
