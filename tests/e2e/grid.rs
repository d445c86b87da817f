//! The screen as Neovim draws it, decoded from the events of `ext_linegrid` and `ext_hlstate`
//! (`:help ui-linegrid`).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use rmpv::Value;

/// Parts of the screen, which later Neovims name also where something else lies on them.
const PARTS: [&str; 7] = [
    "SignColumn",
    "LineNr",
    "WinBar",
    "WinBarNC",
    "StatusLine",
    "StatusLineNC",
    "NormalFloat",
];

/// How a cell looks and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Highlight {
    /// The groups that make it, lowest first and joined by `+`; links are followed. Empty for plain text.
    pub groups: String,
    /// Foreground, as `0xRRGGBB`; `None` is the default.
    pub foreground: Option<u32>,
    /// Background, likewise.
    pub background: Option<u32>,
    /// Whether the two are exchanged.
    pub reverse: bool,
}

#[derive(Clone, Debug)]
struct Cell {
    text: String,
    highlight: u64,
}

/// What the person sees.
#[derive(Clone, Debug, Default)]
pub struct Screen {
    rows: Vec<Vec<Cell>>,
    highlights: HashMap<u64, Arc<Highlight>>,
    defaults: (u32, u32),
    cursor: (usize, usize),
    mode: String,
    drawn_at: Option<Instant>,
}

impl Screen {
    /// Each row as text, blanks at its end cut.
    pub fn lines(&self) -> Vec<String> {
        let text = |row: &Vec<Cell>| row.iter().map(|cell| cell.text.as_str()).collect::<String>();
        self.rows
            .iter()
            .map(|row| text(row).trim_end().to_owned())
            .collect()
    }

    /// Row and column of the first cell of `text`, from 0. Text does not run over the end of a row.
    pub fn find(&self, text: &str) -> Option<(usize, usize)> {
        self.rows.iter().enumerate().find_map(|(index, row)| {
            let line: String = row.iter().map(|cell| cell.text.as_str()).collect();
            let mut before = line.find(text)?;
            // Cells are counted, not letters: a wide character fills two, the second with no text.
            let column = row.iter().position(|cell| {
                let here = before == 0 && !cell.text.is_empty();
                before = before.saturating_sub(cell.text.len());
                here
            })?;
            Some((index, column))
        })
    }

    /// How the cell at `row` and `column` looks.
    pub fn highlight(&self, row: usize, column: usize) -> Arc<Highlight> {
        let id = self.rows[row][column].highlight;
        self.highlights.get(&id).cloned().unwrap_or_default()
    }

    /// The groups of the first cell of `text`.
    pub fn groups_of(&self, text: &str) -> Option<String> {
        let (row, column) = self.find(text)?;
        Some(self.highlight(row, column).groups.clone())
    }

    /// Foreground and background of a cell as they are painted, as `0xRRGGBB`.
    pub fn colours(&self, row: usize, column: usize) -> (u32, u32) {
        let highlight = self.highlight(row, column);
        let foreground = highlight.foreground.unwrap_or(self.defaults.0);
        let background = highlight.background.unwrap_or(self.defaults.1);
        if highlight.reverse {
            (background, foreground)
        } else {
            (foreground, background)
        }
    }

    /// When Neovim's last batch came, before it was decoded.
    pub fn drawn_at(&self) -> Option<Instant> {
        self.drawn_at
    }

    /// Row and column of the cursor, from 0.
    pub fn cursor(&self) -> (usize, usize) {
        self.cursor
    }

    /// The mode as the UI is told it: `normal`, `insert`, `cmdline_normal` …
    pub fn mode(&self) -> &str {
        &self.mode
    }

    /// Runs of equal groups in each row: first column, one past the last, groups. Plain text has no run.
    pub fn runs(&self) -> Vec<Vec<(usize, usize, String)>> {
        let row_runs = |row: usize| {
            let mut runs: Vec<(usize, usize, String)> = Vec::new();
            for column in 0..self.rows[row].len() {
                let groups = &self.highlight(row, column).groups;
                match runs.last_mut() {
                    Some(last) if last.1 == column && last.2 == *groups => last.1 = column + 1,
                    _ if groups.is_empty() => {}
                    _ => runs.push((column, column + 1, groups.clone())),
                }
            }
            runs
        };
        (0..self.rows.len()).map(row_runs).collect()
    }

    /// Takes one batch of a `redraw` notification; true when it held a `flush`, that is: this is a picture
    /// that Neovim means to be shown.
    pub fn redraw(&mut self, batch: &[Value]) -> bool {
        self.drawn_at = Some(Instant::now());
        let mut flushed = false;
        for event in batch {
            let Some((name, calls)) = event.as_array().and_then(|event| event.split_first()) else {
                continue;
            };
            flushed |= name.as_str() == Some("flush");
            for call in calls {
                self.apply(
                    name.as_str().unwrap_or_default(),
                    call.as_array().map_or(&[], Vec::as_slice),
                );
            }
        }
        flushed
    }

    fn apply(&mut self, name: &str, arguments: &[Value]) {
        match name {
            "grid_resize" => self.resize(number(&arguments[1]), number(&arguments[2])),
            "grid_clear" => self.rows.iter_mut().flatten().for_each(|cell| *cell = blank()),
            "grid_line" => self.line(number(&arguments[1]), number(&arguments[2]), &arguments[3]),
            "grid_scroll" => self.scroll(arguments),
            "grid_cursor_goto" => self.cursor = (number(&arguments[1]), number(&arguments[2])),
            "hl_attr_define" => {
                let highlight = Arc::new(highlight(&arguments[1], &arguments[3]));
                self.highlights.insert(number(&arguments[0]) as u64, highlight);
            }
            "default_colors_set" => self.defaults = (colour(&arguments[0]), colour(&arguments[1])),
            "mode_change" => arguments[0]
                .as_str()
                .unwrap_or_default()
                .clone_into(&mut self.mode),
            _ => {}
        }
    }

    fn resize(&mut self, width: usize, height: usize) {
        self.rows.resize(height, Vec::new());
        self.rows.iter_mut().for_each(|row| row.resize(width, blank()));
    }

    /// `[text, highlight, repeat]`; a cell without a highlight has that of the one before.
    fn line(&mut self, row: usize, mut column: usize, cells: &Value) {
        let mut highlight = 0;
        for cell in cells.as_array().into_iter().flatten().filter_map(Value::as_array) {
            let text = cell[0].as_str().unwrap_or_default();
            highlight = cell.get(1).map_or(highlight, |id| number(id) as u64);
            for _ in 0..cell.get(2).map_or(1, number) {
                self.rows[row][column] = Cell {
                    text: text.to_owned(),
                    highlight,
                };
                column += 1;
            }
        }
    }

    /// The rows `top..bottom` move up by `by` (down where negative) between the columns `left..right`.
    fn scroll(&mut self, arguments: &[Value]) {
        let [top, bottom, left, right] = [1, 2, 3, 4].map(|index| number(&arguments[index]));
        let by = arguments[5].as_i64().unwrap_or_default();
        let rows: Vec<usize> = if by > 0 {
            (top..bottom).collect()
        } else {
            (top..bottom).rev().collect()
        };
        for row in rows {
            let Some(source) = row.checked_add_signed(by as isize) else {
                continue;
            };
            if (top..bottom).contains(&source) {
                let moved = self.rows[source][left..right].to_vec();
                self.rows[row][left..right].clone_from_slice(&moved);
            }
        }
    }
}

fn blank() -> Cell {
    Cell {
        text: " ".to_owned(),
        highlight: 0,
    }
}

fn number(value: &Value) -> usize {
    value
        .as_u64()
        .and_then(|number| usize::try_from(number).ok())
        .unwrap_or_default()
}

fn colour(value: &Value) -> u32 {
    value
        .as_i64()
        .and_then(|colour| u32::try_from(colour).ok())
        .unwrap_or_default()
}

fn highlight(attributes: &Value, states: &Value) -> Highlight {
    let get = |map: &Value, key: &str| {
        let entries = map.as_map().map_or(&[][..], Vec::as_slice);
        entries
            .iter()
            .find(|(name, _)| name.as_str() == Some(key))
            .map(|(_, value)| value.clone())
    };
    let name = |state: &Value| {
        // A part of the screen has a name of its own (`NormalFloat`), text that of its group.
        let name = get(state, "hi_name").or_else(|| get(state, "ui_name"))?;
        // The message line of 0.11 and later, which is plain text all the same.
        name.as_str()
            .filter(|name| !matches!(*name, "" | "MsgArea"))
            .map(str::to_owned)
    };
    let mut groups: Vec<String> = states.as_array().into_iter().flatten().filter_map(name).collect();
    if groups.iter().any(|group| !PARTS.contains(&group.as_str())) {
        groups.retain(|group| !PARTS.contains(&group.as_str()));
    }
    groups.dedup();
    Highlight {
        groups: groups.join("+"),
        foreground: get(attributes, "foreground").as_ref().map(colour),
        background: get(attributes, "background").as_ref().map(colour),
        reverse: get(attributes, "reverse").is_some(),
    }
}
