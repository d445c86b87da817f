//! When the reviewer has said no, or nothing, so often that the person is asked instead.

/// Denials in a row.
const IN_A_ROW: u32 = 3;
/// Denials since the person's last prompt.
const IN_ALL: u32 = 20;
/// Failures in a row.
const FAILURES: u32 = 2;

/// What the reviewer has said since the person's last prompt.
#[derive(Debug, Default)]
pub struct Tally {
    in_a_row: u32,
    in_all: u32,
    failures: u32,
    denied: Option<String>,
}

impl Tally {
    /// Why the person is asked about the batch `calls` instead of the reviewer; `None` when it is not so.
    pub fn gives_up(&self, calls: &str) -> Option<&'static str> {
        if self.failures >= FAILURES {
            Some("The reviewer failed twice in a row, so you are asked until your next prompt.")
        } else if self.in_a_row >= IN_A_ROW {
            Some("The reviewer denied three calls in a row, so you are asked.")
        } else if self.in_all >= IN_ALL {
            Some("The reviewer denied twenty calls since your last prompt, so you are asked.")
        } else if self.denied.as_deref() == Some(calls) {
            Some("The reviewer denied the same before, so you are asked.")
        } else {
            None
        }
    }

    /// The reviewer ruled on a batch: for each of its calls, whether it may run.
    pub fn ruled(&mut self, calls: &str, allowed: impl IntoIterator<Item = bool>) {
        self.failures = 0;
        self.denied = None;
        for allowed in allowed {
            if allowed {
                self.in_a_row = 0;
            } else {
                self.in_a_row += 1;
                self.in_all += 1;
                self.denied = Some(calls.to_owned());
            }
        }
    }

    /// The reviewer gave no usable answer.
    pub fn failed(&mut self) {
        self.failures += 1;
    }

    /// The person let a call run that the reviewer did not.
    pub fn person_allowed(&mut self) {
        self.in_a_row = 0;
        self.denied = None;
    }

    /// The person said something new.
    pub fn begin(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_denials_in_a_row_lead_to_the_person_until_one_is_allowed() {
        let mut tally = Tally::default();
        tally.ruled("a", [false]);
        tally.ruled("b", [false]);
        assert_eq!(tally.gives_up("c"), None);
        tally.ruled("c", [true]);
        tally.ruled("d", [false, false, false]);
        assert!(tally.gives_up("e").unwrap().contains("three"));
        tally.person_allowed();
        assert_eq!(tally.gives_up("e"), None);
    }

    #[test]
    fn the_same_batch_is_not_judged_twice() {
        let mut tally = Tally::default();
        tally.ruled("a", [true, false]);
        assert!(tally.gives_up("a").unwrap().contains("same"));
        assert_eq!(tally.gives_up("b"), None);
        tally.ruled("b", [true]);
        assert_eq!(tally.gives_up("a"), None);
    }

    #[test]
    fn two_failures_in_a_row_and_twenty_denials_last_until_the_next_prompt() {
        let mut tally = Tally::default();
        tally.failed();
        tally.ruled("a", [true]);
        tally.failed();
        assert_eq!(tally.gives_up("b"), None);
        tally.failed();
        tally.person_allowed();
        assert!(tally.gives_up("b").unwrap().contains("failed twice"));
        tally.begin();
        for _ in 0..10 {
            tally.ruled("x", [false, false, true]);
        }
        assert!(tally.gives_up("b").unwrap().contains("twenty"));
        tally.person_allowed();
        assert!(tally.gives_up("b").is_some());
        tally.begin();
        assert_eq!(tally.gives_up("b"), None);
    }
}
