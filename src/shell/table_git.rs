//! The rows of git.

use super::command::Class::{Change, Destructive, Read, Unknown};
use super::programs::{Risk, Row};
use super::table::{FORCES, REMOVES, RUNS, WRITES, plain};

/// The rows, by what the subcommands do.
pub(super) const GIT: &[Row] = &[
    Row {
        risks: &[
            Risk("--output", Change, WRITES),
            Risk("--ext-diff", Unknown, RUNS),
            Risk("--textconv", Unknown, RUNS),
            Risk("-O", Unknown, RUNS),
            Risk("--open-files-in-pager", Unknown, RUNS),
            Risk("--filters", Unknown, RUNS),
        ],
        examples: &[
            ("git status -sb", Read),
            ("git -C sub log --oneline", Read),
            ("git diff --output=x", Change),
            ("git -c core.pager=./e.sh log", Unknown),
            ("git grep -O./e.sh x", Unknown),
        ],
        ..plain(
            Read,
            "git status, git log, git diff, git show, git blame, git annotate, git describe, git shortlog, git rev-parse, \
             git rev-list, git ls-files, git ls-tree, git cat-file, git name-rev, git merge-base, git for-each-ref, \
             git show-ref, git show-branch, git grep, git diff-tree, git diff-index, git diff-files, git whatchanged, \
             git count-objects, git check-ignore, git check-attr, git cherry, git range-diff, git version, \
             git stash list, git stash show, git reflog, git reflog show, git remote get-url, git worktree list, \
             git notes list, git notes show, git config --get, git config --get-all, git config --list, git config -l, \
             git config get, git config list, git bundle verify, git verify-commit, git submodule status",
        )
    },
    Row {
        operands: 0,
        risks: &[
            Risk("-d", Destructive, "removes a branch or tag"),
            Risk("-D", Destructive, "removes a branch or tag"),
            Risk("--delete", Destructive, "removes a branch or tag"),
            Risk("-f", Destructive, FORCES),
            Risk("--force", Destructive, FORCES),
            Risk("-M", Destructive, FORCES),
            Risk("-C", Destructive, FORCES),
            Risk("--edit-description", Change, WRITES),
            Risk("--unset-upstream", Change, WRITES),
        ],
        examples: &[
            ("git branch -a", Read),
            ("git branch x", Change),
            ("git branch -D x", Destructive),
            ("git remote -v", Read),
            ("git remote add o u", Change),
            ("git tag", Read),
        ],
        ..plain(Read, "git branch, git tag, git remote")
    },
    Row {
        risks: &[
            Risk("--no-verify", Change, "skips the checks of the repository"),
            Risk("-x", Unknown, RUNS),
            Risk("--exec", Unknown, RUNS),
        ],
        examples: &[
            ("git add .", Change),
            ("git commit -m x", Change),
            ("git stash", Change),
            ("git rebase main", Change),
            ("git rebase -x ./e.sh main", Unknown),
        ],
        ..plain(
            Change,
            "git add, git commit, git mv, git rebase, git cherry-pick, git revert, git merge, git stash, git stash push, \
             git stash pop, git stash apply, git am, git submodule init, git worktree add, git notes, git gc, git bundle, git archive, \
             git format-patch, git sparse-checkout",
        )
    },
    Row {
        risks: &[
            Risk("--upload-pack", Unknown, RUNS),
            Risk("-c", Unknown, "can make git run another program"),
            Risk("--config", Unknown, "can make git run another program"),
            Risk("--template", Unknown, RUNS),
            Risk("--unsaf*", Unknown, "writes outside of the repository"),
            Risk("ext::*", Unknown, RUNS),
        ],
        examples: &[
            ("git clone https://x/y", Change),
            ("git clone --config core.fsmonitor=./e.sh y", Unknown),
            ("git fetch --upload-pack ./e.sh o", Unknown),
            ("git pull --rebase", Change),
        ],
        ..plain(
            Change,
            "git fetch, git pull, git init, git apply, git submodule add, git submodule update",
        )
    },
    Row {
        risks: &[
            Risk("-u", Unknown, RUNS),
            Risk("--upload-pack", Unknown, RUNS),
            Risk("-c", Unknown, "can make git run another program"),
            Risk("--config", Unknown, "can make git run another program"),
            Risk("--template", Unknown, RUNS),
            Risk("ext::*", Unknown, RUNS),
        ],
        ..plain(Change, "git clone")
    },
    Row {
        risks: &[
            Risk("-f", Destructive, FORCES),
            Risk("--force", Destructive, FORCES),
            Risk("--discard-changes", Destructive, "throws changes away"),
            Risk("-C", Destructive, FORCES),
            Risk("-B", Destructive, FORCES),
            Risk("--", Destructive, "throws changes of files away"),
            Risk(".", Destructive, "throws changes of files away"),
        ],
        examples: &[
            ("git checkout main", Change),
            ("git checkout -- .", Destructive),
            ("git switch -c x", Change),
        ],
        ..plain(Change, "git checkout, git switch")
    },
    Row {
        risks: &[
            Risk("-f", Destructive, FORCES),
            Risk("--force*", Destructive, FORCES),
            Risk("-d", Destructive, "removes a branch"),
            Risk("--delete", Destructive, "removes a branch"),
            Risk("--mirror", Destructive, FORCES),
            Risk("--prune", Destructive, "removes branches"),
            Risk("--receive-pack", Unknown, RUNS),
            Risk("--exec", Unknown, RUNS),
            Risk("+*", Destructive, FORCES),
            Risk(":*", Destructive, "removes a branch"),
        ],
        examples: &[
            ("git push origin main", Change),
            ("git push -f", Destructive),
            ("git push --force-with-lease", Destructive),
            ("git push origin +main", Destructive),
            ("git push origin :main", Destructive),
        ],
        ..plain(Change, "git push")
    },
    Row {
        risks: &[
            Risk("--hard", Destructive, "throws changes away"),
            Risk("--merge", Destructive, "throws changes away"),
            Risk("--keep", Destructive, "throws changes away"),
        ],
        examples: &[("git reset HEAD a", Change), ("git reset --hard", Destructive)],
        ..plain(Change, "git reset")
    },
    Row {
        risks: &[
            Risk("-f", Destructive, REMOVES),
            Risk("--force", Destructive, REMOVES),
        ],
        examples: &[
            ("git clean -n", Read),
            ("git clean -fdx", Destructive),
            ("git clean -n -f", Destructive),
        ],
        ..plain(Read, "git clean -n, git clean --dry-run")
    },
    Row {
        examples: &[("git restore a", Destructive), ("git stash drop", Destructive)],
        ..plain(
            Destructive,
            "git clean, git rm, git restore, git stash drop, git stash clear, git reflog expire, git reflog delete, \
             git update-ref, git filter-branch, git filter-repo, git prune, git worktree remove, git worktree prune, \
             git remote remove, git remote rm, git remote prune, git submodule deinit",
        )
    },
];
