//! The glue to Neovim.
