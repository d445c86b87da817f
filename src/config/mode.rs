//! The permission modes: names, strictness, order of the key that cycles them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much runs unasked. Ordered from strict to loose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Nothing is changed and nothing is run; also called `plan`.
    ReadOnly,
    /// Everything is asked, but for questions and the plan.
    AskAll,
    /// The tiers decide.
    #[default]
    Manual,
    /// What the tiers would ask goes to a classifier first.
    Auto,
    /// What would be asked runs. The hard rules and the person's own deny rules stand.
    Yolo,
}

/// The names, for messages and completion.
pub const MODE_NAMES: &[&str] = &["manual", "ask-all", "read-only", "plan", "auto", "yolo"];

impl Mode {
    /// The name, as it is written in a config.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::AskAll => "ask-all",
            Self::Manual => "manual",
            Self::Auto => "auto",
            Self::Yolo => "yolo",
        }
    }

    /// The mode that the cycling key goes to: manual, ask-all, read-only, auto, yolo, and around.
    pub fn next(self) -> Self {
        match self {
            Self::Manual => Self::AskAll,
            Self::AskAll => Self::ReadOnly,
            Self::ReadOnly => Self::Auto,
            Self::Auto => Self::Yolo,
            Self::Yolo => Self::Manual,
        }
    }

    /// Whether this lets less run unasked than `other`.
    pub fn is_stricter_than(self, other: Self) -> bool {
        self < other
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = String;

    /// Accepts every name of [`MODE_NAMES`], with `_` for `-`.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name.replace('_', "-").as_str() {
            "manual" => Ok(Self::Manual),
            "ask-all" => Ok(Self::AskAll),
            "read-only" | "plan" => Ok(Self::ReadOnly),
            "auto" => Ok(Self::Auto),
            "yolo" => Ok(Self::Yolo),
            _ => Err(format!(
                "{name} is no mode; the modes are {}",
                MODE_NAMES.join(", ")
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_visits_every_mode_once() {
        let mut seen = vec![Mode::default()];
        while let Some(next) = seen
            .last()
            .map(|mode| mode.next())
            .filter(|next| *next != Mode::Manual)
        {
            seen.push(next);
        }
        assert_eq!(
            seen,
            [Mode::Manual, Mode::AskAll, Mode::ReadOnly, Mode::Auto, Mode::Yolo]
        );
    }

    #[test]
    fn every_listed_name_is_a_mode() {
        for name in MODE_NAMES {
            assert!(name.parse::<Mode>().is_ok(), "{name}");
        }
        assert_eq!("plan".parse(), Ok(Mode::ReadOnly));
        assert_eq!("ask_all".parse(), Ok(Mode::AskAll));
        assert!("YOLO".parse::<Mode>().is_err());
    }
}
