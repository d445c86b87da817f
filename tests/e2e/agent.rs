//! The agent as a script sees it: `require('dcode')` of the Neovim under test.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::driver::Nvim;

/// What waits for review, as `hunks()` gives it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Hunk {
    pub id: u64,
    pub path: String,
    pub start: usize,
    pub count: usize,
    pub removed: Vec<String>,
    pub added: Vec<String>,
}

impl Nvim {
    /// Starts a turn; [`Self::turn_ended`] waits for its end.
    pub async fn prompt(&self, text: &str) {
        let code = "_G.ended = nil
            local turn, why = require('dcode').ask(..., { on_event = function(ev)
              if ev.type == 'turn_finished' then _G.ended = ev end
            end })
            return { turn, why }";
        let answer: Value = self.lua_with(code, &[text]).await;
        assert!(answer[0].is_u64(), "the turn starts: {answer}");
    }

    /// Waits until the turn of [`Self::prompt`] has ended: its reason.
    pub async fn turn_ended(&self) -> String {
        self.wait_for_lua("_G.ended").await;
        self.lua("return _G.ended.reason").await
    }

    /// A whole turn.
    pub async fn turn(&self, text: &str) {
        self.prompt(text).await;
        assert_eq!(self.turn_ended().await, "done");
    }

    /// `require('dcode')[name](...)`: the value, or the sentence where there is none.
    pub async fn api(&self, name: &str, arguments: &Value) -> Result<Value, String> {
        let code = "local name, args = ...
            local value, why = require('dcode')[name](unpack(args))
            return { value = value, why = why, none = value == nil }";
        let answer: Value = self.lua_with(code, &(name, arguments)).await;
        if answer["none"] == json!(true) {
            return Err(answer["why"].as_str().unwrap_or_default().to_owned());
        }
        Ok(answer["value"].clone())
    }

    /// What waits in the current buffer.
    pub async fn hunks(&self) -> Vec<Hunk> {
        let hunks = self.api("hunks", &json!([0])).await.expect("hunks");
        serde_json::from_value(hunks.clone()).unwrap_or_else(|error| panic!("{error}: {hunks}"))
    }

    /// Waits until so many hunks wait in the current buffer.
    pub async fn wait_for_hunks(&self, count: usize) {
        self.wait_for_lua(&format!("#require('dcode').hunks(0) == {count}"))
            .await;
    }

    /// The lines of the current buffer.
    pub async fn lines(&self) -> Vec<String> {
        self.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, true)")
            .await
    }

    /// Whether the current buffer holds unsaved changes.
    pub async fn modified(&self) -> bool {
        self.lua("return vim.bo.modified").await
    }
}
