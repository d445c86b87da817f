//! The processes that a command started, and signals to all of them.
//!
//! A command leads its own session, so its process group is signalled as one. On Linux `/proc` also finds
//! what left the group: job control makes new groups in the session, `setsid` leaves it. Such a process is
//! known by its parent or by the mark in its environment; one that has cleared its environment and lost its
//! parent is not found. Elsewhere only the group is reached.

use rustix::process::{Pid, Signal};

/// The variable that marks what a command started.
pub(super) const MARK: &str = "DCODE_CHILD";

/// A command's leader and mark.
#[derive(Clone, Debug)]
pub(super) struct Family {
    pub leader: Pid,
    /// The value of [`MARK`].
    pub mark: String,
}

impl Family {
    /// Sends `signal` to all of it, and says whom it found outside the group.
    pub fn signal(&self, signal: Signal) -> Vec<Pid> {
        // First the group: it is one call, so nothing in it can fork away.
        let _ = rustix::process::kill_process_group(self.leader, signal);
        let strays = self.strays();
        for pid in &strays {
            let _ = rustix::process::kill_process(*pid, signal);
        }
        strays
    }

    /// Whether a process of the session (of the group, where there is no `/proc`) or one of `strays` lives.
    /// Zombies do not.
    pub fn lives(&self, strays: &[Pid]) -> bool {
        match proc::table() {
            Some(table) => table.iter().any(|entry| {
                entry.session == self.leader.as_raw_pid()
                    || entry.group == self.leader.as_raw_pid()
                    || strays.iter().any(|pid| pid.as_raw_pid() == entry.pid)
            }),
            None => {
                rustix::process::test_kill_process_group(self.leader).is_ok()
                    || strays
                        .iter()
                        .any(|pid| rustix::process::test_kill_process(*pid).is_ok())
            }
        }
    }

    /// As [`Self::lives`], and whether something lives that left session and group.
    pub fn lives_anywhere(&self) -> bool {
        self.lives(&[]) || !self.strays().is_empty()
    }

    fn strays(&self) -> Vec<Pid> {
        let leader = self.leader.as_raw_pid();
        let Some(table) = proc::table() else {
            return Vec::new();
        };
        let mut family: Vec<i32> = table
            .iter()
            .filter(|entry| {
                entry.session == leader || entry.group == leader || proc::has_mark(entry.pid, &self.mark)
            })
            .map(|entry| entry.pid)
            .collect();
        family.push(leader);
        // Children of members, until there are no new ones.
        loop {
            let before = family.len();
            for entry in &table {
                if family.contains(&entry.parent) && !family.contains(&entry.pid) {
                    family.push(entry.pid);
                }
            }
            if family.len() == before {
                break;
            }
        }
        let outside = |pid: &i32| {
            table
                .iter()
                .any(|entry| entry.pid == *pid && entry.group != leader)
        };
        family
            .into_iter()
            .filter(outside)
            .filter_map(Pid::from_raw)
            .collect()
    }
}

mod proc {
    //! The process table of Linux.

    use super::MARK;

    /// One living process.
    pub struct Entry {
        pub pid: i32,
        pub parent: i32,
        pub group: i32,
        pub session: i32,
    }

    /// All living processes; `None` where there is no `/proc`.
    pub fn table() -> Option<Vec<Entry>> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let pids = std::fs::read_dir("/proc").ok()?;
        Some(
            pids.flatten()
                .filter_map(|entry| read(entry.file_name().to_str()?))
                .collect(),
        )
    }

    fn read(pid: &str) -> Option<Entry> {
        let pid: i32 = pid.parse().ok()?;
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        // `PID (NAME) STATE PPID PGRP SESSION …`; the name may hold blanks and brackets.
        let end = stat.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let dead = matches!(fields.next()?, "Z" | "X");
        let mut number = || fields.next()?.parse().ok();
        let entry = Entry {
            pid,
            parent: number()?,
            group: number()?,
            session: number()?,
        };
        (!dead).then_some(entry)
    }

    /// Whether the process was started with [`MARK`] set to `mark`.
    pub fn has_mark(pid: i32, mark: &str) -> bool {
        let Ok(environ) = std::fs::read(format!("/proc/{pid}/environ")) else {
            return false;
        };
        let wanted = format!("{MARK}={mark}");
        environ
            .split(|byte| *byte == 0)
            .any(|variable| variable == wanted.as_bytes())
    }
}
