//! Real Neovims driven over RPC, with a decoded screen.
