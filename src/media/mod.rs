//! Images, sound, video and documents, as they go to a model: which files they are, how large they may be,
//! and the block that carries them.

pub mod encode;
pub mod kind;
