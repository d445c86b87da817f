//! The local backend.
