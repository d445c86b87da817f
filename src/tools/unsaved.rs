//! Buffers that a command would not see as they are.

use std::path::PathBuf;
use std::sync::Arc;

use crate::permission::decision::{Decision, Verdict};
use crate::protocol::tool::ToolClass;
use crate::tools::dispatch::Dispatcher;
use crate::tools::registry::DynTool;

impl Dispatcher {
    /// The files whose buffers are not saved, before a call of `tool` where that matters: a command that is
    /// asked for, or one that runs while nobody is there.
    pub(super) async fn unsaved_before(
        &self,
        tool: &Arc<dyn DynTool>,
        verdict: &Verdict,
        human: bool,
    ) -> Vec<PathBuf> {
        // Where somebody is there and nothing is asked, nothing can be offered either.
        let matters = verdict.decision == Decision::Ask || !human;
        if tool.class() != ToolClass::Execute || !matters {
            return Vec::new();
        }
        // Without the editor's word there is nothing to offer.
        let buffers = self.editor.unsaved().await.unwrap_or_default();
        buffers.into_iter().map(|buffer| buffer.path).collect()
    }

    /// Writes buffers; a sentence for the person on those that could not be written.
    pub(super) async fn save(&self, paths: Vec<PathBuf>) -> Option<String> {
        if paths.is_empty() {
            return None;
        }
        match self.editor.save(paths).await {
            Ok(failed) if failed.is_empty() => None,
            Ok(failed) => {
                let told = failed.iter().map(|file| {
                    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
                    format!("{name} is not saved: {}.", file.reason)
                });
                Some(told.collect::<Vec<_>>().join(" "))
            }
            Err(error) => Some(format!("The buffers are not saved: {error}")),
        }
    }
}
