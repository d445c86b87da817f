//! The rows of the table of programs that look at files and change them.

use super::command::Class::{self, Change, Destructive, Read, Unknown};
use super::programs::{Risk, Row};

pub(super) const ANY: usize = usize::MAX;
const PLAIN: Row = Row {
    names: "",
    class: Unknown,
    risks: &[],
    operands: ANY,
    single_dash: false,
    examples: &[],
};

pub(super) const WRITES: &str = "writes a file";
pub(super) const RUNS: &str = "runs another program";
pub(super) const REMOVES: &str = "removes what it names";
pub(super) const ELSEWHERE: &str = "acts on another machine or as another user";
pub(super) const FORCES: &str = "overwrites without asking";

pub(super) const fn plain(class: Class, names: &'static str) -> Row {
    Row {
        names,
        class,
        ..PLAIN
    }
}

/// The rows, by subject.
pub(super) const FILES: &[Row] = &[
    // Looking at files and text.
    Row {
        examples: &[
            ("cat a.txt", Read),
            ("wc -l", Read),
            ("head -5 f", Read),
            ("tail -f log", Read),
        ],
        ..plain(
            Read,
            "arch, b2sum, base32, basename, cat, cksum, cmp, col, column, comm, cut, df, diff, dir, dirname, du, echo, \
             egrep, expand, false, fgrep, fmt, fold, free, getconf, grep, groups, head, hexdump, id, jq, join, \
             ls, lsblk, lscpu, lsmem, md5sum, nl, nproc, numfmt, od, paste, pgrep, pr, printenv, ps, pwd, readlink, \
             realpath, rev, seq, sha1sum, sha224sum, sha256sum, sha384sum, sha512sum, shasum, sleep, stat, strings, \
             sum, tac, tail, tr, true, tsort, tty, type, uname, unexpand, uptime, users, vdir, vmstat, wc, whereis, \
             which, who, whoami, zcat, zgrep, :, base64, locale, lsof, pidof, cal, getent",
        )
    },
    // Builtins that stay within the shell.
    plain(Read, "cd, pushd, popd, dirs, times, umask"),
    Row {
        risks: &[Risk("-p", Unknown, "sets a variable")],
        ..plain(Read, "wait")
    },
    Row {
        risks: &[Risk("-v", Unknown, "sets a variable")],
        ..plain(Read, "printf")
    },
    Row {
        risks: &[
            Risk("-s", Change, "sets the clock"),
            Risk("--set", Change, "sets the clock"),
        ],
        examples: &[("date +%F", Read), ("date --set=now", Change)],
        ..plain(Read, "date")
    },
    Row {
        operands: 0,
        risks: &[
            Risk("-F", Change, "sets the name"),
            Risk("--file", Change, "sets the name"),
        ],
        ..plain(Read, "hostname")
    },
    Row {
        operands: 1,
        examples: &[("uniq -c in", Read), ("uniq in out", Change), ("xxd a", Read)],
        ..plain(Read, "uniq, xxd")
    },
    Row {
        risks: &[Risk("-C", Change, WRITES), Risk("--compile", Change, WRITES)],
        examples: &[("file -C -m x", Change)],
        ..plain(Read, "file")
    },
    Row {
        risks: &[
            Risk("-o", Change, WRITES),
            Risk("--output", Change, WRITES),
            Risk("--compress-program", Unknown, RUNS),
            Risk("-T", Change, WRITES),
            Risk("--temporary-directory", Change, WRITES),
        ],
        examples: &[
            ("sort -u a", Read),
            ("sort -o a.txt b.txt", Change),
            ("sort -ro a b", Change),
            ("sort --out=a b", Change),
            ("sort --compress-program=./e.sh a", Unknown),
        ],
        ..plain(Read, "sort")
    },
    Row {
        risks: &[
            Risk("-o", Change, WRITES),
            // Older versions write a file into every folder.
            Risk("-R", Change, WRITES),
        ],
        examples: &[("tree -L 2", Read), ("tree -R", Change)],
        ..plain(Read, "tree, top")
    },
    Row {
        risks: &[
            Risk("-o", Change, WRITES),
            Risk("-O", Change, WRITES),
            Risk("--log-file", Change, WRITES),
            Risk("--LOG-FILE", Change, WRITES),
            Risk("-k", Unknown, RUNS),
            Risk("--lesskey-file", Unknown, RUNS),
            Risk("--lesskey-src", Unknown, RUNS),
            Risk("--lesskey-content", Unknown, RUNS),
            Risk("+*", Unknown, "is a command of the pager"),
        ],
        ..plain(Read, "less, more")
    },
    Row {
        risks: &[
            Risk("--pre", Unknown, RUNS),
            Risk("--hostname-bin", Unknown, RUNS),
            Risk("-z", Unknown, RUNS),
            Risk("--search-zip", Unknown, RUNS),
        ],
        examples: &[
            ("rg -n 'fn main' src", Read),
            ("rg --pre ./e.sh x", Unknown),
            ("rg --pre=./e.sh x", Unknown),
            ("rg -z x --hostname-bin ./e.sh", Unknown),
        ],
        ..plain(Read, "rg")
    },
    Row {
        // `-exec` and its kin are unwrapped: their class is that of what they run.
        risks: &[
            Risk("-delete", Destructive, "removes what it finds"),
            Risk("-exec", Read, RUNS),
            Risk("-execdir", Read, RUNS),
            Risk("-ok", Read, RUNS),
            Risk("-okdir", Read, RUNS),
            Risk("-fprint", Change, WRITES),
            Risk("-fprint0", Change, WRITES),
            Risk("-fprintf", Change, WRITES),
            Risk("-fls", Change, WRITES),
        ],
        single_dash: true,
        examples: &[
            ("find . -name '*.go'", Read),
            ("find . -delete", Destructive),
            ("find . -fprint out.txt", Change),
            ("find . -exec rm {} +", Destructive),
            ("find . -ok rm {} \\;", Destructive),
            ("find . -name x -exec env rm -f {} \\;", Destructive),
            ("find . -type f -exec grep -l x {} +", Read),
        ],
        ..plain(Read, "find")
    },
    Row {
        risks: &[
            Risk("-x", Unknown, RUNS),
            Risk("-X", Unknown, RUNS),
            Risk("--exec", Unknown, RUNS),
            Risk("--exec-batch", Unknown, RUNS),
        ],
        examples: &[("fd -e rs", Read), ("fd -x rm", Destructive)],
        ..plain(Read, "fd, fdfind")
    },
    Row {
        risks: &[
            Risk("-i", Destructive, FORCES),
            Risk("--in-place", Destructive, FORCES),
            Risk("--inplace", Destructive, FORCES),
            Risk("-s", Change, WRITES),
            Risk("--split-exp", Change, WRITES),
        ],
        ..plain(Read, "yq")
    },
    Row {
        // Scripts are judged in `class.rs`.
        risks: &[
            Risk("-i", Destructive, FORCES),
            Risk("--in-place", Destructive, FORCES),
        ],
        examples: &[
            ("sed -n '1,20p' a", Read),
            ("sed 's/a/b/g' a", Read),
            ("sed -i s/a/b/ f", Destructive),
            ("sed -n '1w out' a", Unknown),
            ("sed 's/a/b/e' a", Unknown),
        ],
        ..plain(Read, "sed")
    },
    // Making files.
    Row {
        examples: &[("mkdir d", Change), ("touch x", Change)],
        ..plain(
            Change,
            "mkdir, touch, unzip, gzip, gunzip, bzip2, xz, zstd, tee, mktemp, csplit, patch, mkfifo",
        )
    },
    Row {
        risks: &[
            Risk("--filter", Unknown, RUNS),
            Risk("--strip-program", Unknown, RUNS),
        ],
        examples: &[("split --filter=./e.sh a", Unknown)],
        ..plain(Change, "split, install")
    },
    Row {
        risks: &[
            Risk("--checkpoint-action", Unknown, RUNS),
            Risk("-I", Unknown, RUNS),
            Risk("--use-compress-program", Unknown, RUNS),
            Risk("--to-command", Unknown, RUNS),
            Risk("-F", Unknown, RUNS),
            Risk("--info-script", Unknown, RUNS),
            Risk("--new-volume-script", Unknown, RUNS),
            Risk("--rsh-command", Unknown, RUNS),
            Risk("--rmt-command", Unknown, RUNS),
            Risk("--remove-files", Destructive, "removes files"),
            Risk("--recursive-unlink", Destructive, "removes files"),
        ],
        examples: &[
            ("tar czf a.tgz d", Change),
            (
                "tar -cf a.tar --checkpoint=1 --checkpoint-action=exec=./e.sh d",
                Unknown,
            ),
            ("tar -xf a -I ./e.sh", Unknown),
            ("tar xIf ./e.sh a", Unknown),
            ("tar --to-com=./e.sh -xf a", Unknown),
            ("tar --remove-files -cf a d", Destructive),
        ],
        ..plain(Change, "tar, gtar, bsdtar")
    },
    Row {
        risks: &[
            Risk("--unzip-command", Unknown, RUNS),
            Risk("-m", Destructive, "removes files"),
            Risk("--move", Destructive, "removes files"),
        ],
        examples: &[
            ("zip -r a.zip d", Change),
            ("zip a.zip d -T -TT ./e.sh", Unknown),
            ("zip -rm a.zip d", Destructive),
        ],
        ..plain(Change, "zip")
    },
    Row {
        risks: &[
            Risk("-f", Destructive, FORCES),
            Risk("--force", Destructive, FORCES),
            Risk("--remove-destination", Destructive, FORCES),
            Risk("/dev/null", Destructive, "as a source empties the target"),
        ],
        examples: &[
            ("cp a b", Change),
            ("cp -f a b", Destructive),
            ("cp /dev/null src/main.rs", Destructive),
        ],
        ..plain(Change, "cp, ln")
    },
    Row {
        risks: &[
            Risk("--delete*", Destructive, "removes files"),
            Risk("--del", Destructive, "removes files"),
            Risk("--remove-source-files", Destructive, "removes files"),
            Risk("--remove-sent-files", Destructive, "removes files"),
            Risk("-e", Unknown, RUNS),
            Risk("--rsh", Unknown, RUNS),
            Risk("--rsync-path", Unknown, RUNS),
            Risk("-M", Unknown, RUNS),
            Risk("--remote-option", Unknown, RUNS),
        ],
        examples: &[
            ("rsync -a a/ b/", Change),
            ("rsync -a --del a/ b/", Destructive),
            ("rsync -avze ./e.sh a b", Unknown),
        ],
        ..plain(Change, "rsync")
    },
    Row {
        risks: &[
            Risk("-S", Unknown, RUNS),
            Risk("-o", Unknown, RUNS),
            Risk("-F", Unknown, RUNS),
            Risk("-D", Unknown, RUNS),
        ],
        examples: &[
            ("scp a h:b", Change),
            ("scp -oProxyCommand=./e.sh a h:b", Unknown),
        ],
        ..plain(Change, "scp")
    },
    // Removing and ending.
    Row {
        examples: &[
            ("rm f", Destructive),
            ("rm -fr build", Destructive),
            ("rm build -rf", Destructive),
            ("rmdir d", Destructive),
            ("mv a b", Destructive),
            ("chmod 777 a", Destructive),
            ("kill -9 1", Destructive),
            ("dd if=a of=b", Destructive),
            ("truncate -s0 a.txt", Destructive),
        ],
        ..plain(
            Destructive,
            "rm, rmdir, unlink, mv, rename, shred, srm, truncate, dd, chmod, chown, chgrp, chattr, setfacl, kill, \
             pkill, killall, skill, mkfs, mkfs.ext4, mkfs.xfs, mkfs.btrfs, mkfs.vfat, mke2fs, mkswap, wipefs, fdisk, \
             sfdisk, sgdisk, parted, losetup, mount, umount, swapoff, shutdown, reboot, halt, poweroff, init, telinit, \
             userdel, groupdel, dropdb, dropuser, crontab, blkdiscard, hdparm, fallocate, trash, gio trash",
        )
    },
];
