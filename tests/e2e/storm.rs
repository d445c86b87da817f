//! Random steps of a person, the agent and other programs on one buffer, each compared with a model:
//! nothing is lost and no line stands where it should not. `STORM_STEPS=10000` makes it long, `STORM_SEED`
//! repeats one.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::driver::Nvim;
use crate::model_server::ModelServer;
use crate::neovims::{Neovim, on_each_neovim};
use crate::setup::Setup;
use crate::storm_model::{Model, Seen, without};

/// Steps on each Neovim in CI.
const STEPS: usize = 150;
/// Lines of the file at the start; it stays about that long.
const LINES: usize = 60;

const LOOK: &str = "local hunks = require('dcode').hunks(0)
    return { lines = vim.api.nvim_buf_get_lines(0, 0, -1, true), hunks = hunks, modified = vim.bo.modified }";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_in_a_storm_of_steps() {
    let number = |name: &str, default: u64| {
        let given = std::env::var(name).ok().and_then(|value| value.parse().ok());
        given.unwrap_or(default)
    };
    let steps = usize::try_from(number("STORM_STEPS", STEPS as u64)).expect("a number of steps");
    let seed = number("STORM_SEED", 7);
    on_each_neovim(async |neovim| {
        let mut storm = Storm::start(neovim, seed).await;
        for step in 0..steps {
            storm.step(step).await;
        }
        eprintln!("{}: {steps} steps: {}", neovim.series, storm.tally());
    })
    .await;
}

struct Storm {
    nvim: Nvim,
    model: Model,
    random: fastrand::Rng,
    tokens: usize,
    seed: u64,
    log: Vec<String>,
    counts: std::collections::BTreeMap<&'static str, usize>,
}

impl Drop for Storm {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let series = &self.nvim.neovim().series;
            eprintln!(
                "seed {}, Neovim {series}; the steps before:\n{}",
                self.seed,
                self.last_steps()
            );
        }
    }
}

/// What a step did, and what the person must have agreed to after it where that is plain.
struct Done {
    what: String,
    base: Option<Vec<String>>,
}

impl Done {
    fn plain(what: impl Into<String>, base: Vec<String>) -> Self {
        Self {
            what: what.into(),
            base: Some(base),
        }
    }

    fn any(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            base: None,
        }
    }
}

impl Storm {
    async fn start(neovim: &Neovim, seed: u64) -> Self {
        let lines: Vec<String> = (0..LINES).map(|n| format!("<b{n}> base")).collect();
        let setup = Setup::new()
            .size(100, 30)
            .model(&ModelServer::start(), "")
            .file("a.txt", &(lines.join("\n") + "\n"))
            .open("a.txt");
        let nvim = setup.start(neovim).await;
        nvim.command("set autoread nofoldenable shortmess+=A").await;
        Self {
            nvim,
            model: Model::new(lines),
            random: fastrand::Rng::with_seed(seed),
            tokens: 0,
            seed,
            log: Vec::new(),
            counts: std::collections::BTreeMap::new(),
        }
    }

    fn token(&mut self) -> String {
        self.tokens += 1;
        format!("<{}>", self.tokens)
    }

    fn line(&mut self) -> usize {
        self.random.usize(..self.model.text.len())
    }

    async fn step(&mut self, step: usize) {
        let kind = self.random.usize(..100);
        let (name, done) = match kind {
            0..14 => ("type a line", self.type_line().await),
            14..24 => ("type in a line", self.append().await),
            24..30 => ("delete a line", self.delete().await),
            30..38 => ("undo", self.travel(true).await),
            38..44 => ("redo", self.travel(false).await),
            44..52 => ("accept", self.accept().await),
            52..62 => ("reject", self.reject().await),
            62..78 => ("agent", self.agent().await),
            78..82 => ("agent while typing", self.agent_while_typing().await),
            82..85 => (":edit!", self.edit_again().await),
            85..90 => (":write", self.write().await),
            90..93 => ("another program", self.external().await),
            _ => ("windows", self.windows().await),
        };
        *self.counts.entry(name).or_default() += 1;
        let seen: Seen = self.nvim.lua(LOOK).await;
        self.log.push(format!("{step}: {}", done.what));
        let disk = std::fs::read(self.nvim.project().join("a.txt")).expect("the file");
        if let Err(problem) = self.model.check(&seen, done.base.as_deref(), &disk) {
            panic!("{problem}");
        }
    }

    /// The last steps, for who reads a failure.
    fn last_steps(&self) -> String {
        let from = self.log.len().saturating_sub(12);
        self.log.get(from..).unwrap_or_default().join("\n")
    }

    fn tally(&self) -> String {
        let mut out = String::new();
        for (name, count) in &self.counts {
            write!(out, "{name} {count}  ").expect("text");
        }
        out
    }

    /// Keys, and the word of Neovim that it has taken them.
    async fn keys(&self, keys: &str) {
        self.nvim.input(keys).await;
        self.nvim
            .wait_for_lua("vim.api.nvim_get_mode().mode == 'n'")
            .await;
    }

    async fn type_line(&mut self) -> Done {
        let (at, token) = (self.line(), self.token());
        self.keys(&format!("{}Go{} typed<Esc>", at + 1, token.replace('<', "<lt>")))
            .await;
        let clear = self.model.is_clear(at);
        let hunks = self.model.shifted(at + 1, 0, 1);
        let mut lines = self.model.text.clone();
        lines.insert(at + 1, format!("{token} typed"));
        let base = without(&lines, hunks.iter());
        self.model.change(lines);
        let what = format!("typed {token} below line {}", at + 1);
        if clear {
            Done::plain(what, base)
        } else {
            Done::any(what)
        }
    }

    async fn append(&mut self) -> Done {
        let (at, token) = (self.line(), self.token());
        self.keys(&format!("{}GA {}<Esc>", at + 1, token.replace('<', "<lt>")))
            .await;
        let clear = self.model.is_clear(at);
        let mut lines = self.model.text.clone();
        lines[at] = format!("{} {token}", lines[at]);
        let base = without(&lines, self.model.hunks.iter());
        self.model.change(lines);
        let what = format!("typed {token} at the end of line {}", at + 1);
        if clear {
            Done::plain(what, base)
        } else {
            Done::any(what)
        }
    }

    async fn delete(&mut self) -> Done {
        if self.model.text.len() < LINES / 2 {
            return Done::plain("nothing", self.model.base.clone());
        }
        let at = self.line();
        self.keys(&format!("{}Gdd", at + 1)).await;
        let clear = self.model.is_clear(at);
        let hunks = self.model.shifted(at + 1, 1, 0);
        let mut lines = self.model.text.clone();
        lines.remove(at);
        let base = without(&lines, hunks.iter());
        self.model.change(lines);
        let what = format!("deleted line {}", at + 1);
        if clear {
            Done::plain(what, base)
        } else {
            Done::any(what)
        }
    }

    async fn travel(&mut self, back: bool) -> Done {
        if !self.model.travel(back) {
            return Done::plain("nothing", self.model.base.clone());
        }
        self.keys(if back { "u" } else { "<C-r>" }).await;
        Done::any(if back { "undo" } else { "redo" })
    }

    async fn accept(&mut self) -> Done {
        let Some(index) = self.some_hunk() else {
            return Done::plain("nothing", self.model.base.clone());
        };
        let id = self.model.hunks[index].id;
        let accepted = self.nvim.api("accept", &json!([{ "buf": 0, "hunk": id }])).await;
        assert_eq!(accepted, Ok(json!(1)));
        let others = self.model.hunks.iter().filter(|hunk| hunk.id != id);
        Done::plain(format!("accepted hunk {id}"), without(&self.model.text, others))
    }

    async fn reject(&mut self) -> Done {
        let Some(index) = self.some_hunk() else {
            return Done::plain("nothing", self.model.base.clone());
        };
        let hunk = self.model.hunks[index].clone();
        let rejected = self
            .nvim
            .api("reject", &json!([{ "buf": 0, "hunk": hunk.id }]))
            .await;
        assert_eq!(rejected, Ok(json!(1)));
        let lines = without(&self.model.text, std::iter::once(&hunk));
        self.model.change(lines);
        Done::plain(format!("rejected {hunk:?}"), self.model.base.clone())
    }

    fn some_hunk(&mut self) -> Option<usize> {
        let count = self.model.hunks.len();
        (count > 0).then(|| self.random.usize(..count))
    }

    /// Arguments of an edit in one to three places, and the lines it makes.
    fn edit(&mut self) -> (Value, Vec<String>) {
        let mut lines = self.model.text.clone();
        let mut edits = Vec::new();
        let mut at = self.random.usize(..lines.len() / 2);
        for _ in 0..=self.random.usize(..3) {
            if at >= lines.len() {
                break;
            }
            let (old, token) = (lines[at].clone(), self.token());
            // `u` may have brought back a line that a rejection then puts beside it.
            if lines.iter().filter(|line| **line == old).count() > 1 {
                at += 1;
                continue;
            }
            // Beyond that the file does not grow.
            let kind = if lines.len() < 2 * LINES {
                self.random.usize(..4)
            } else {
                3 * self.random.usize(..2)
            };
            let new: Vec<String> = match kind {
                0 => vec![format!("{token} agent")],
                1 => vec![old.clone(), format!("{token} agent, more")],
                2 => vec![format!("{token} agent"), format!("{token} agent again")],
                _ if lines.len() > LINES / 2 => Vec::new(),
                _ => vec![format!("{old} {token} agent")],
            };
            let new_string: String = new.iter().map(|line| format!("{line}\n")).collect();
            edits.push(json!({ "old_string": format!("{old}\n"), "new_string": new_string }));
            let made = new.len();
            lines.splice(at..=at, new);
            at += made + 2 + self.random.usize(..10);
        }
        (json!({ "path": "a.txt", "edits": edits }), lines)
    }

    async fn call(&mut self, arguments: &Value) {
        let result = self.nvim.api("call", &json!(["edit_file", arguments])).await;
        let result = result.unwrap_or_else(|why| panic!("{arguments}: {why}"));
        assert_eq!(result["ok"], json!(true), "{arguments}: {result}");
    }

    async fn agent(&mut self) -> Done {
        let (arguments, lines) = self.edit();
        if lines == self.model.text {
            return Done::plain("nothing", self.model.base.clone());
        }
        self.call(&arguments).await;
        self.model.change(lines);
        Done::plain(format!("the agent: {arguments}"), self.model.base.clone())
    }

    /// The person is inserting when the edit comes; it is a block of its own all the same.
    async fn agent_while_typing(&mut self) -> Done {
        let (at, token) = (self.line(), self.token());
        let typed = format!("{token} typing");
        self.nvim
            .input(&format!("{}Go{}", at + 1, typed.replace('<', "<lt>")))
            .await;
        self.nvim
            .wait_for_lua("vim.api.nvim_get_mode().mode == 'i'")
            .await;
        let mut lines = self.model.text.clone();
        lines.insert(at + 1, typed);
        self.model.change(lines);
        // Not in the line that is typed in: such an edit waits for the end of insert mode.
        let row = at + 1;
        let seen: Seen = self.nvim.lua(LOOK).await;
        self.model.hunks = seen.hunks;
        let target = if row > 8 { row - 6 } else { row + 4 };
        let once = |line: &String| self.model.text.iter().filter(|other| *other == line).count() == 1;
        let what = match self.model.text.get(target).filter(|line| once(line)).cloned() {
            Some(old) => {
                let new = format!("{old} {} agent", self.token());
                let edits = json!([{ "old_string": format!("{old}\n"), "new_string": format!("{new}\n") }]);
                self.call(&json!({ "path": "a.txt", "edits": edits })).await;
                let mut lines = self.model.text.clone();
                lines[target] = new;
                self.model.change(lines);
                format!("the agent changed line {} while {token} was typed", target + 1)
            }
            None => format!("typed {token}"),
        };
        self.keys("<Esc>").await;
        Done::any(what)
    }

    async fn edit_again(&mut self) -> Done {
        self.nvim.command("silent edit!").await;
        let disk = self.model.disk.clone();
        self.model.reload(disk);
        Done::any(":edit!")
    }

    async fn write(&mut self) -> Done {
        self.nvim.command("silent write!").await;
        self.model.disk.clone_from(&self.model.text);
        Done::plain(":write", self.model.base.clone())
    }

    /// Another program changes the file while the buffer holds nothing unsaved.
    async fn external(&mut self) -> Done {
        if self.model.modified {
            return Done::plain("nothing", self.model.base.clone());
        }
        let (at, token) = (self.line(), self.token());
        let mut lines = self.model.text.clone();
        lines[at] = format!("{} {token} external", lines[at]);
        let path = self.nvim.project().join("a.txt");
        tokio::fs::write(path, lines.join("\n") + "\n")
            .await
            .expect("the file is written");
        self.nvim.command("checktime").await;
        self.nvim.wait_for_lua("not vim.bo.modified").await;
        self.model.disk.clone_from(&lines);
        self.model.reload(lines);
        Done::any(format!("another program changed line {}", at + 1))
    }

    async fn windows(&mut self) -> Done {
        let keys = [
            "<C-w>s", "<C-w>v", "<C-w>w", "<C-w>o", "gg", "G", "zz", "<C-e>", "<C-d>", "<C-u>", "]h", "[h",
            "zt", "<C-w>=",
        ];
        let keys = keys[self.random.usize(..keys.len())];
        let many = self.nvim.lua::<usize>("return #vim.api.nvim_list_wins()").await > 3;
        let keys = if many { "<C-w>o" } else { keys };
        self.keys(keys).await;
        Done::plain(keys, self.model.base.clone())
    }
}
