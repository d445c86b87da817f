//! Lines by a grammar of all that hides a command: quoting, expansions, wrappers, groups, here-documents, redirects,
//! builtins that evaluate. What a line runs does no harm in the jail, so anything may be generated.

use fastrand::Rng;

/// The generator: the same seed makes the same lines.
pub struct Grammar {
    rng: Rng,
    /// How many here-documents wait for their bodies; their texts.
    bodies: Vec<String>,
}

const PROGRAMS: &[&str] = &[
    "zap", "zap", "z", "ls", "rm", "git", "nay", "touch", "cat", "nothing",
];
const PLAIN: &[&str] = &[
    "1", "x", "-rf", "a b", "d", "--x=y", "é", "日本", "%", "f", "=", "a=b", "-", "#x", "!x", "^",
];
const NAMES: &[&str] = &["x", "y", "a", "PATH", "IFS", "HOME", "x1", "_"];

impl Grammar {
    pub fn new(seed: u64) -> Self {
        Self {
            rng: Rng::with_seed(seed),
            bodies: Vec::new(),
        }
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.rng.usize(..of.len())]
    }

    /// A whole text.
    pub fn text(&mut self) -> String {
        self.bodies.clear();
        let depth = *[1, 1, 1, 2, 2, 3].get(self.rng.usize(..6)).unwrap_or(&1);
        let mut line = self.list(depth);
        for body in std::mem::take(&mut self.bodies) {
            line.push('\n');
            line.push_str(&body);
        }
        if self.rng.u8(..12) == 0 {
            line = self.mutated(&line);
        }
        line
    }

    /// With a few characters removed, doubled or put elsewhere.
    fn mutated(&mut self, line: &str) -> String {
        let mut chars: Vec<char> = line.chars().collect();
        for _ in 0..self.rng.usize(1..4) {
            if chars.is_empty() {
                break;
            }
            let at = self.rng.usize(..chars.len());
            match self.rng.u8(..4) {
                0 => drop(chars.remove(at)),
                1 => chars.insert(at, chars[at]),
                2 => {
                    let other = self.rng.usize(..chars.len());
                    chars.swap(at, other);
                }
                _ => {
                    let new = self.one(&[
                        "'", "\"", "\\", "`", "$", "(", ")", "{", "}", "#", "\n", ";", "&", "<", ">", "|",
                        " ",
                    ]);
                    chars.insert(at, new.chars().next().unwrap());
                }
            }
        }
        chars.into_iter().collect()
    }

    fn list(&mut self, depth: usize) -> String {
        let count = self.rng.usize(1..4);
        let mut text = String::new();
        for at in 0..count {
            if at > 0 {
                // A here-document's body follows the next newline.
                if self.bodies.is_empty() {
                    text += self.one(&[
                        "; ",
                        ";",
                        " && ",
                        " || ",
                        "\n",
                        " & ",
                        "\n\n",
                        " ;",
                        " # x'\n",
                        " \\\n && ",
                    ]);
                } else {
                    text += self.one(&["; ", " && ", " || "]);
                }
            }
            text += &self.pipeline(depth);
        }
        text
    }

    fn pipeline(&mut self, depth: usize) -> String {
        let mut text = String::new();
        match self.rng.u8(..120) {
            0..8 => text += "! ",
            8..14 => text += "time ",
            14..18 => text += "time -p ",
            18 => text += "coproc ",
            _ => {}
        }
        text += &self.command(depth);
        for _ in 0..self.rng.usize(..3).saturating_sub(1) {
            text += self.one(&[" | ", "|", " |& ", " |\n "]);
            text += &self.command(depth);
        }
        text
    }

    fn command(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.u8(..3) > 0 {
            return self.simple(depth);
        }
        let inner = depth - 1;
        let saved = std::mem::take(&mut self.bodies);
        let mut list = self.list(inner);
        for body in std::mem::replace(&mut self.bodies, saved) {
            list += &format!("\n{body}\n");
        }
        let end = if list.ends_with('\n') { "" } else { ";" };
        let word = self.word(inner);
        let name = self.one(&["f", "f", "g_1", "h", "ls"]);
        let mut text = match self.rng.u8(..36) {
            0 => format!("({list})"),
            1 => format!("{{ {list}{end} }}"),
            2 => format!("if {list}{end} then {}; fi", self.simple(0)),
            3 => format!("if true; then {list}{end} else {}; fi", self.simple(0)),
            4 => format!("for x in {word}; do {list}{end} done"),
            5 => format!("while {list}{end} do break; done"),
            6 => format!("until {list}{end} do break; done"),
            7 => format!("case {word} in *) {list} ;; esac"),
            8 => format!(
                "case x in a) ls ;;& (x|y) {list} ;& z) {} ;; esac",
                self.simple(0)
            ),
            9 => format!("{name}() {{ {list}{end} }}; {name} {word}"),
            10 => format!("function {name} {{ {list}{end} }}\n{name} {word}"),
            11 => format!("{name}() ( {list} ); {name}"),
            12 => format!("for ((i=0; i<1; i++)); do {list}{end} done"),
            13 => format!("[[ -n {word} && x == {word} ]]"),
            14 => format!("select x in {word}; do {list}{end} break; done <<< 1"),
            15 => format!("coproc N {{ {list}{end} }}; wait"),
            16 => format!("(( {} ))", self.arithmetic(inner)),
            17..20 => format!("({list})"),
            20..23 => format!("for x in 1; do {list}{end} done"),
            23..26 => format!("if true; then {list}{end} fi"),
            26..29 => format!("case x in x) {list} ;; esac"),
            29..32 => format!("f() {{ {list}{end} }}; f"),
            _ => format!("{{ {list}\n}}"),
        };
        if self.rng.u8(..6) == 0 && !list.contains("<<") {
            text += &self.redirect(inner);
        }
        text
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut text = String::new();
        if self.rng.u8(..8) == 0 {
            text += &format!("{}={} ", self.one(NAMES), self.word(depth.saturating_sub(1)));
            if self.rng.u8(..4) == 0 {
                return text;
            }
        }
        if self.rng.u8(..16) == 0 {
            text += self.redirect(depth).trim_start();
            text.push(' ');
        }
        text += &match self.rng.u8(..8) {
            0 | 1 if depth > 0 => self.wrapped(depth - 1),
            2 if depth > 0 && self.rng.bool() => self.builtin(depth - 1),
            _ => self.program(),
        };
        for _ in 0..self.rng.usize(..3) {
            text.push_str(self.one(&[" ", " ", "  ", "\t", " \\\n"]));
            text += &self.word(depth);
        }
        if self.rng.u8(..5) == 0 {
            text += &self.redirect(depth);
        }
        if self.rng.u8(..40) == 0 {
            text += " # ' \" $(zap";
            text.push('\n');
        }
        text
    }

    /// A program's name, written in some way.
    fn program(&mut self) -> String {
        let name = self.one(PROGRAMS);
        match self.rng.u8(..20) {
            0 => format!("\\{name}"),
            1 => format!("'{name}'"),
            2 => format!("\"{name}\""),
            3 => format!("/bin/{name}"),
            4 => format!("$'{}'", self.ansi_c(name)),
            5 => {
                let (first, rest) = name.split_at(1);
                format!("{first}''{rest}")
            }
            6 => {
                let (first, rest) = name.split_at(1);
                format!("{first}\\\n{rest}")
            }
            7 => {
                let (first, rest) = name.split_at(1);
                format!("{first}\"{rest}\"")
            }
            8 => format!("/bin/../bin/{name}"),
            9 => format!("$'\\x2f'bin/{name}"),
            10 if self.rng.u8(..4) == 0 => format!("/bin/{}?", &name[..name.len() - 1]),
            11 if self.rng.u8(..4) == 0 => format!("{{{name},x}}"),
            12 if self.rng.u8(..4) == 0 => format!("$(echo {name})"),
            13 => format!("$\"{name}\""),
            _ => name.to_owned(),
        }
    }

    fn ansi_c(&mut self, text: &str) -> String {
        let mut coded = String::new();
        for char in text.chars() {
            coded += &match self.rng.u8(..5) {
                0 => format!("\\x{:x}", u32::from(char)),
                1 => format!("\\{:03o}", u32::from(char)),
                2 => format!("\\u{:04x}", u32::from(char)),
                3 if self.rng.u8(..6) == 0 => format!("\\x{{{:x}}}", u32::from(char)),
                _ => char.to_string(),
            };
        }
        coded
    }

    /// A wrapper in front of a program, or of a line in quotes.
    fn wrapped(&mut self, depth: usize) -> String {
        let inner = if self.rng.bool() || depth == 0 {
            format!("{} {}", self.program(), self.one(&["1", "x", "'a b'", "-n"]))
        } else {
            self.wrapped(depth - 1)
        };
        let line = self.list_without_documents(depth);
        match self.rng.u8(..26) {
            0 => format!("env {inner}"),
            1 => format!("env A=1 {inner}"),
            2 => format!("env -i {inner}"),
            3 => format!("env -u X -- {inner}"),
            4 => format!("timeout 5 {inner}"),
            5 => format!("timeout -k 1 -s KILL 5 {inner}"),
            6 => format!("nice -n 1 {inner}"),
            7 => format!("nohup {inner}"),
            8 => format!("setsid -w {inner}"),
            9 => format!("stdbuf -oL {inner}"),
            10 => format!("command {inner}"),
            11 => format!("command -p {inner}"),
            12 => format!("exec {inner}"),
            13 => format!("exec -a ls {inner}"),
            14 => format!("builtin {inner}"),
            15 => format!("echo 1 | xargs {inner}"),
            16 => format!("echo 1 | xargs -n1 -I% {inner} %"),
            17 => format!("find f -exec {inner} {{}} \\;"),
            18 => format!("find f -exec {inner} {{}} +"),
            19 => format!("bash -c {}", quoted(&line)),
            20 => format!("sh -c {}", quoted(&line)),
            21 => format!("bash -euc {}", quoted(&line)),
            22 => format!("eval {}", quoted(&line)),
            23 => format!("eval {inner}"),
            24 => format!("sudo {inner}"),
            _ => format!("bash -o pipefail -c {} x y", quoted(&line)),
        }
    }

    /// A builtin that runs or evaluates what it is given.
    fn builtin(&mut self, depth: usize) -> String {
        let line = self.list_without_documents(depth);
        let evaluated = format!("'a[$({})]'", self.program().replace('\'', ""));
        match self.rng.u8(..48) {
            0 => format!("trap {} EXIT", quoted(&line)),
            1 => format!("trap -- {} EXIT", quoted(&line)),
            2 => format!("trap {} DEBUG; :", quoted(&line)),
            3 => format!("alias q={}\nq", quoted(&line)),
            4 => format!("shopt -s expand_aliases\nalias q={}\nq", quoted(&line)),
            5 => format!("compgen -C {} x", quoted(&line)),
            6 => format!("mapfile -c 1 -C {} a <<< x", quoted(&line)),
            7 => format!("let {evaluated}"),
            8 => format!("test -v {evaluated}"),
            9 => format!("printf -v {evaluated} x"),
            10 => format!("read {evaluated} <<< x"),
            11 => format!("unset {evaluated}"),
            12 => format!("declare -i x={evaluated}"),
            13 => format!("x={evaluated}; echo $((x))"),
            14 => format!("x={evaluated}; [[ x -eq 1 ]]"),
            15 => format!("declare -n r={evaluated}; echo $r"),
            16 => format!("PS4={}; set -x; ls", quoted(&format!("$({line})"))),
            17 => format!("set -- {}; \"$@\"", self.program()),
            18 => format!("x={}; $x", self.program()),
            19 => format!("echo ${{x:-{}}}", self.word(depth)),
            20 => format!("export x={}", self.word(depth)),
            21 => format!("local x={}", self.word(depth)),
            22 => format!("a=({} {})", self.word(depth), self.word(depth)),
            23 => format!("x[{}]=1", self.arithmetic(depth)),
            24 => format!("printf '%s' {}", self.word(depth)),
            25..32 => format!("printf '%s\\n' {}", self.word(depth)),
            32..36 => format!("export x={}", self.word(depth)),
            36..40 => format!("x=1; echo $x {}", self.word(depth)),
            _ => format!("echo {}", self.word(depth)),
        }
    }

    fn list_without_documents(&mut self, depth: usize) -> String {
        let saved = std::mem::take(&mut self.bodies);
        let mut text = self.list(depth);
        for body in std::mem::replace(&mut self.bodies, saved) {
            text += &format!("\n{body}\n");
        }
        text
    }

    fn word(&mut self, depth: usize) -> String {
        let mut word = String::new();
        for _ in 0..self.rng.usize(1..3) {
            word += &self.piece(depth);
        }
        word
    }

    fn piece(&mut self, depth: usize) -> String {
        let plain = self.one(PLAIN);
        if depth == 0 {
            return match self.rng.u8(..8) {
                0 => quoted(plain),
                1 => format!("\"{plain}\""),
                2 => format!("$'{}'", self.ansi_c("ab")),
                3 => "$x".to_owned(),
                4 => "\"$x\"".to_owned(),
                5 => self
                    .one(&[
                        "*", "~", "{a,b}", "?", "[ab]", "\\$", "\\`", "\\\\", "$", "~/x", "''", "{1..3}",
                    ])
                    .to_owned(),
                _ => plain.replace(' ', "").replace(['#', '!'], "q"),
            };
        }
        if self.rng.u8(..3) > 0 {
            return self.piece(0);
        }
        let program = self.list_without_documents(depth - 1);
        let inner = self.word(depth - 1);
        let kind = self.rng.u8(..28);
        // What is never parsable is rare, or nothing else would be tried.
        let kind = if matches!(kind, 14 | 15 | 25 | 26) && self.rng.u8(..4) > 0 {
            kind % 9
        } else {
            kind
        };
        match kind {
            0 | 1 => format!("$({program})"),
            2 => format!("\"$({program})\""),
            3 => format!(
                "`{}`",
                program
                    .replace('\\', "\\\\")
                    .replace('`', "\\`")
                    .replace('$', "\\$")
            ),
            4 => format!("\"`{} 1`\"", self.program()),
            5 => format!("<({program})"),
            6 => format!(">({program})"),
            7 => format!("${{x:-{inner}}}"),
            8 => format!("\"${{x:-{inner}}}\""),
            9 => format!("${{x:={inner}}}"),
            10 => format!("${{HOME+{inner}}}"),
            11 => format!("${{HOME#{inner}}}"),
            12 => format!("${{HOME/{inner}/{inner}}}"),
            13 => format!("${{HOME:$({program})}}"),
            14 => format!("$(({}))", self.arithmetic(depth - 1)),
            15 => format!("$[{}]", self.arithmetic(depth - 1)),
            16 => format!("'{}'", program.replace('\'', "")),
            17 => format!("\"'{}'\"", inner.replace(['"', '\''], "")),
            18 => format!("${{x[$({program})]}}"),
            19 => format!("\\$({})", self.one(&["", "x"])),
            20 => format!("$'{}'", self.ansi_c(plain)),
            21 => format!("{{{inner},b}}"),
            22 => format!("\"{}\"", program.replace(['"', '\\'], "")),
            23 => format!("$(cat <<'E'\n{}\nE\n)", inner.replace('\n', " ")),
            24 => format!("$(cat <<E\n{}\nE\n)", inner.replace('\n', " ")),
            25 => format!("${{!{}}}", self.one(&["x", "x*", "x@"])),
            26 => format!("${{x@{}}}", self.one(&["P", "Q", "E"])),
            _ => format!("\"\\\"$({program})\""),
        }
    }

    fn arithmetic(&mut self, depth: usize) -> String {
        match self.rng.u8(..8) {
            0 => format!("1 + $({})", self.list_without_documents(depth.saturating_sub(1))),
            1 => format!("x[$({})]", self.program()),
            2 => "x = 1, y++".to_owned(),
            3 => format!("`{}`", self.program().replace(['`', '\\', '$'], "")),
            4 => "${x:-1} << 2".to_owned(),
            5 => "x".to_owned(),
            _ => "1 + 2".to_owned(),
        }
    }

    fn redirect(&mut self, depth: usize) -> String {
        let target = match self.rng.u8(..8) {
            0 => self.word(depth.saturating_sub(1)),
            1 => "\"o\"ut".to_owned(),
            2 => "$'\\x6fut'".to_owned(),
            3 => "/tmp/out".to_owned(),
            4 => "~/out".to_owned(),
            5 => "d/../out".to_owned(),
            6 => "o\\\nut".to_owned(),
            _ => "out".to_owned(),
        };
        let tag = self.one(&["E", "EOF", "E_1"]);
        let body = {
            let inner = self.word(depth.saturating_sub(1));
            if inner.lines().any(|line| line.trim() == tag) {
                "x".to_owned()
            } else {
                inner
            }
        };
        match self.rng.u8(..20) {
            0 => format!(" > {target}"),
            1 => format!(" >{target}"),
            2 => format!(" >> {target}"),
            3 => format!(" &> {target}"),
            4 => format!(" >| {target}"),
            5 => format!(" 2>{target}"),
            6 => format!(" <> {target}"),
            7 => format!(" >& {target}"),
            8 if self.rng.u8(..5) == 0 => format!(" {{fd}}> {target}"),
            8 => format!(" 1> {target}"),
            9 => " 2>&1".to_owned(),
            10 => " >/dev/null".to_owned(),
            11 => " < f".to_owned(),
            12 => format!(" <<< {target}"),
            13 => format!(" < <({})", self.list_without_documents(depth.saturating_sub(1))),
            14 => format!(" > >({})", self.list_without_documents(depth.saturating_sub(1))),
            15..19 if self.rng.u8(..3) > 0 => " 2>/dev/null".to_owned(),
            15 => self.document(tag, tag, &body),
            16 => self.document(&format!("'{tag}'"), tag, &body),
            17 => self.document(&format!("\"{tag}\""), tag, &body),
            18 => self.document(&format!("\\{tag}"), tag, &body),
            _ => format!(" &>> {target}"),
        }
    }

    fn document(&mut self, written: &str, tag: &str, body: &str) -> String {
        let dash = if self.rng.u8(..4) == 0 { "-" } else { "" };
        self.bodies.push(format!(
            "{body}\n{}{tag}",
            if dash.is_empty() { "" } else { "\t" }
        ));
        format!(" <<{dash}{written}")
    }
}

/// In single quotes, or in another way that means the same.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
