//! Files and their text: path safety, decoding, atomic writing.
