//! The rows of the table of programs, by subject.

use super::command::Class::{self, Change, Destructive, Read, Unknown};
use super::programs::{Risk, Row};

const ANY: usize = usize::MAX;
const PLAIN: Row = Row {
    names: "",
    class: Unknown,
    risks: &[],
    operands: ANY,
    single_dash: false,
    examples: &[],
};

const WRITES: &str = "writes a file";
const RUNS: &str = "runs another program";
const REMOVES: &str = "removes what it names";
const ELSEWHERE: &str = "acts on another machine or as another user";
const FORCES: &str = "overwrites without asking";

const fn plain(class: Class, names: &'static str) -> Row {
    Row {
        names,
        class,
        ..PLAIN
    }
}

/// The rows, by subject.
pub(super) const ROWS: &[Row] = &[
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
    // git.
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
            Risk("--unsafe-paths", Unknown, "writes outside of the repository"),
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
    // Builders and package managers: they run what the project says.
    Row {
        examples: &[
            ("make all", Change),
            ("npm install foo", Change),
            ("cargo build --release", Change),
            ("go test ./...", Change),
        ],
        ..plain(
            Change,
            "make, gmake, cmake, ninja, meson, brew, pip, pip3, uv, npm, pnpm, yarn, bun, cargo, poetry, go build, \
             go test, go vet, go list, go install, go get, go generate, go run, go fmt, go mod, go work, gofmt, rustup, \
             mvn, gradle, bundle, gem, composer, dotnet, apt, apt-get, dnf, yum, pacman, apk, kubectl apply, helm, \
             systemctl, terraform init, terraform fmt, docker build, docker pull, docker compose, docker start, \
             podman build, podman pull",
        )
    },
    Row {
        risks: &[Risk("-w", Change, WRITES), Risk("-u", Change, WRITES)],
        ..plain(Read, "go version, go env, go doc, go help")
    },
    plain(
        Read,
        "docker ps, docker images, docker logs, docker version, docker info, podman ps, podman images",
    ),
    Row {
        risks: &[
            Risk("--kubeconfig", Unknown, "can make kubectl run another program"),
            Risk("-s", Unknown, ELSEWHERE),
            Risk("--server", Unknown, ELSEWHERE),
            Risk("--cluster", Unknown, ELSEWHERE),
            Risk("--context", Unknown, ELSEWHERE),
            Risk("--user", Unknown, ELSEWHERE),
        ],
        examples: &[
            ("kubectl get pods -n x", Read),
            ("kubectl get pods --kubeconfig=./k", Unknown),
            ("kubectl --kubeconfig ./k get pods", Unknown),
            ("docker -H tcp://x ps", Unknown),
            ("docker --config ./d ps", Unknown),
        ],
        ..plain(
            Read,
            "kubectl get, kubectl describe, kubectl logs, kubectl version, kubectl explain, kubectl top",
        )
    },
    Row {
        risks: &[
            Risk("-H", Unknown, ELSEWHERE),
            Risk("--host", Unknown, ELSEWHERE),
            Risk("-M", Unknown, ELSEWHERE),
            Risk("--machine", Unknown, ELSEWHERE),
        ],
        examples: &[
            ("systemctl status x", Read),
            ("systemctl status -H h x", Unknown),
            ("systemctl -Hh status x", Unknown),
        ],
        ..plain(
            Read,
            "systemctl status, systemctl list-units, systemctl is-active, systemctl is-enabled, systemctl cat",
        )
    },
    Row {
        risks: &[
            Risk("-o", Unknown, "can make it run another program"),
            Risk("--option", Unknown, "can make it run another program"),
            Risk("-c", Unknown, "can make it run another program"),
            Risk("--config-file", Unknown, "can make it run another program"),
        ],
        ..plain(Read, "apt list, apt show, apt search, apt-cache")
    },
    plain(Read, "dpkg-query, brew list, pip list, pip show, pip3 list"),
    // Its plugins are programs in the project.
    plain(
        Unknown,
        "terraform plan, terraform show, terraform validate, terraform output",
    ),
    Row {
        examples: &[
            ("docker rm x", Destructive),
            ("kubectl delete pod foo", Destructive),
            ("npm publish", Destructive),
            ("terraform apply -auto-approve", Destructive),
        ],
        ..plain(
            Destructive,
            "docker rm, docker rmi, docker push, docker kill, docker stop, docker container rm, docker image rm, \
             docker volume rm, docker network rm, docker system prune, docker image prune, docker volume prune, \
             docker container prune, docker builder prune, docker compose down, docker compose rm, podman rm, podman rmi, \
             podman push, podman kill, podman system prune, kubectl delete, kubectl drain, kubectl replace, helm uninstall, \
             helm delete, npm publish, npm unpublish, pnpm publish, yarn publish, cargo publish, cargo yank, \
             poetry publish, uv publish, gem push, terraform apply, terraform destroy, systemctl stop, systemctl disable, \
             systemctl mask, systemctl poweroff, systemctl reboot, apt remove, apt purge, apt-get remove, apt-get purge, \
             dnf remove, yum remove, pacman -R, apk del, brew uninstall, gh repo delete, gh release delete, cargo clean, \
             go clean",
        )
    },
    // The network.
    Row {
        risks: &[
            Risk("-T", Destructive, "sends a file away"),
            Risk("--upload-file", Destructive, "sends a file away"),
        ],
        examples: &[
            ("curl https://x", Unknown),
            ("curl -X POST u", Unknown),
            ("curl --upload-file a u", Destructive),
        ],
        ..plain(Unknown, "curl, wget")
    },
    // Interpreters: what they run is not in the line, or not in a language that is judged here.
    Row {
        risks: &[Risk("-i", Destructive, FORCES)],
        examples: &[("perl -pi -e s/a/b/ f", Destructive), ("perl x.pl", Unknown)],
        ..plain(Unknown, "perl, ruby")
    },
];
