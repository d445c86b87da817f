//! Text surgery without I/O.
