//! `/retrieved/…` in the arguments of the file tools: a file of the session's own folder, never of the real
//! root.
//!
//! The path is replaced before the tool sees it. So permission, snapshot and answer speak of the real file.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::offload::OffloadDir;
use crate::protocol::tool::{ToolClass, ToolSpec};
use crate::tools::args;
use crate::tools::registry::{DynTool, Prepared};
use crate::tools::tool::ToolError;

/// Arguments that hold a path, under any of their names.
const PATHS: [&str; 3] = ["path", "file_path", "cwd"];
/// Arguments that hold a glob, which may begin with a path.
const GLOBS: [&str; 1] = ["pattern"];
/// Arguments that hold an envelope, which names paths in its headers.
const ENVELOPES: [&str; 4] = ["patchText", "patch_text", "patch", "input"];
const HEADERS: [&str; 4] = [
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

/// A tool whose paths may lead into the session's folder.
pub struct Routed {
    tool: Arc<dyn DynTool>,
    offload: Arc<OffloadDir>,
}

impl Routed {
    /// `tool`, with `/retrieved/…` leading into `offload`.
    pub fn new(tool: Arc<dyn DynTool>, offload: Arc<OffloadDir>) -> Self {
        Self { tool, offload }
    }

    /// Replaces what leads into the folder; whether anything did.
    fn reroute(&self, object: &mut Map<String, Value>) -> bool {
        let mut changed = false;
        for (key, value) in object {
            let Value::String(text) = value else { continue };
            let key = key.as_str();
            let routed = if PATHS.contains(&key) {
                self.path(text)
            } else if GLOBS.contains(&key) && self.tool.class() == ToolClass::Read {
                self.glob(text)
            } else if ENVELOPES.contains(&key) {
                self.envelope(text)
            } else {
                None
            };
            if let Some(routed) = routed {
                *text = routed;
                changed = true;
            }
        }
        changed
    }

    fn path(&self, written: &str) -> Option<String> {
        let real = self.offload.route(Path::new(written))?;
        let slash = if written.len() > 1 && written.ends_with('/') {
            "/"
        } else {
            ""
        };
        Some(format!("{}{slash}", real.display()))
    }

    /// The folder in front is a path; what is special in it is made literal.
    fn glob(&self, pattern: &str) -> Option<String> {
        let special = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
        let slash = pattern.get(..special)?.rfind('/').filter(|at| *at > 0)?;
        let folder = self.path(pattern.get(..slash)?)?;
        let literal = folder.chars().flat_map(|c| {
            let escape = matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\').then_some('\\');
            escape.into_iter().chain([c])
        });
        Some(literal.collect::<String>() + pattern.get(slash..)?)
    }

    fn envelope(&self, patch: &str) -> Option<String> {
        let mut changed = false;
        let line = |line: &str| {
            let routed = HEADERS.iter().find_map(|header| {
                let at = line.find(header)? + header.len();
                let written = line.get(at..)?;
                let (name, end) = written.split_at(written.trim_end().len());
                Some(format!("{}{}{end}", line.get(..at)?, self.path(name)?))
            });
            changed |= routed.is_some();
            routed.unwrap_or_else(|| line.to_owned())
        };
        let routed: String = patch.split_inclusive('\n').map(line).collect();
        changed.then_some(routed)
    }
}

impl DynTool for Routed {
    fn name(&self) -> &str {
        self.tool.name()
    }

    fn class(&self) -> ToolClass {
        self.tool.class()
    }

    fn spec(&self) -> ToolSpec {
        self.tool.spec()
    }

    fn pages_itself(&self) -> bool {
        self.tool.pages_itself()
    }

    fn prepare(&self, raw: &str, cwd: &Path) -> Result<Prepared, ToolError> {
        // Nearly every call; what is not JSON is answered by the tool.
        if !raw.contains("retrieved") {
            return self.tool.prepare(raw, cwd);
        }
        let Ok(mut object) = args::object(self.name(), raw) else {
            return self.tool.prepare(raw, cwd);
        };
        if self.reroute(&mut object) {
            self.tool.prepare(&Value::Object(object).to_string(), cwd)
        } else {
            self.tool.prepare(raw, cwd)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Hands its arguments back as an error.
    struct Echo(&'static str);

    impl DynTool for Echo {
        fn name(&self) -> &str {
            self.0
        }

        fn class(&self) -> ToolClass {
            ToolClass::Read
        }

        fn spec(&self) -> ToolSpec {
            ToolSpec {
                name: String::new(),
                description: String::new(),
                schema: Value::Null,
            }
        }

        fn prepare(&self, raw: &str, _: &Path) -> Result<Prepared, ToolError> {
            Err(ToolError::Reply(raw.to_owned()))
        }
    }

    #[test]
    fn every_place_of_a_path_is_routed_and_nothing_else() {
        let offload = Arc::new(OffloadDir::new(Path::new("/t [1]"), "s"));
        let real = offload
            .route(Path::new("/retrieved"))
            .unwrap()
            .display()
            .to_string();
        let tool = Routed::new(Arc::new(Echo("any")), offload);
        let routed = |args: Value| -> Value {
            let answer = tool.prepare(&args.to_string(), Path::new("/")).err().unwrap();
            serde_json::from_str(&answer.to_string()).unwrap()
        };
        for (key, written, expected) in [
            ("path", "/retrieved/b1/a", format!("{real}/b1/a")),
            ("file_path", "/x/../retrieved/b1/", format!("{real}/b1/")),
            ("cwd", "/retrieved", real.clone()),
            (
                "path",
                "/retrieved/../etc/passwd",
                "/retrieved/../etc/passwd".into(),
            ),
            ("path", "sub/retrieved/x", "sub/retrieved/x".into()),
            ("content", "/retrieved/b1/a", "/retrieved/b1/a".into()),
            (
                "pattern",
                "/retrieved/b1/*.{md,txt}",
                format!("{}/b1/*.{{md,txt}}", real.replace('[', "\\[").replace(']', "\\]")),
            ),
            ("pattern", "retrieved.*", "retrieved.*".into()),
            (
                "patchText",
                "*** Begin Patch\n*** Add File: /retrieved/b1/n\r\n+/retrieved/x\n*** End Patch",
                format!("*** Begin Patch\n*** Add File: {real}/b1/n\r\n+/retrieved/x\n*** End Patch"),
            ),
        ] {
            assert_eq!(
                routed(json!({ key: written }))[key],
                json!(expected),
                "{key}={written}"
            );
        }
    }
}
