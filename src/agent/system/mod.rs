//! The system prompt: what never changes within a session, the most general first.
//!
//! | file | what it is for |
//! |---|---|
//! | `system.md` | who the model is and how it works; a line that begins with `{tool}` needs that tool |
//! | `prompt` | puts the parts together |
//! | `instructions` | finds the files in which the person and the project say how to work |
//! | `clean` | takes out of such a file what a person would not see |
//! | `facts` | languages and test commands of a project, by its files |
//! | `peek` | reads a small file that a stranger may have made |

mod clean;
mod facts;
mod instructions;
mod peek;
mod prompt;

pub use instructions::{Instruction, Source};
pub use prompt::{Parts, SystemPrompt, system_prompt};
