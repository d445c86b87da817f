//! Options that stand between a program and its subcommand.

/// Options before the subcommand that take the next word as their value.
pub(super) const GLOBAL_VALUES: [(&str, &[&str]); 12] = [
    (
        "git",
        &[
            "-C",
            "-c",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--config-env",
        ],
    ),
    (
        "docker",
        &["-H", "--host", "--context", "-c", "--config", "-l", "--log-level"],
    ),
    ("podman", &["--connection", "--url", "--root", "--log-level"]),
    (
        "kubectl",
        &[
            "-n",
            "--namespace",
            "--context",
            "--kubeconfig",
            "-s",
            "--server",
            "--cluster",
            "--user",
        ],
    ),
    ("helm", &["-n", "--namespace", "--kube-context", "--kubeconfig"]),
    ("cargo", &["--config", "-Z", "--color", "-C"]),
    ("npm", &["--prefix", "-C", "-w", "--workspace"]),
    ("pnpm", &["-C", "--dir", "--filter", "-F"]),
    ("yarn", &["--cwd"]),
    ("go", &["-C"]),
    ("make", &["-C", "-f", "-I", "-o", "-W"]),
    ("systemctl", &["-H", "--host", "-M", "--machine"]),
];

/// Options before the subcommand that let the line choose a config, a repository or a host: each can make
/// the program run another one, or act somewhere else.
pub(super) const RISKY_GLOBALS: [(&str, &[&str]); 7] = [
    (
        "git",
        &["-c", "--config-env", "--exec-path", "--git-dir", "--work-tree"],
    ),
    ("docker", &["-H", "--host", "--context", "-c", "--config"]),
    (
        "podman",
        &[
            "--connection",
            "-c",
            "--url",
            "--remote",
            "-r",
            "--root",
            "--module",
            "--runtime",
        ],
    ),
    (
        "kubectl",
        &[
            "--kubeconfig",
            "-s",
            "--server",
            "--context",
            "--cluster",
            "--user",
        ],
    ),
    ("helm", &["--kubeconfig", "--kube-apiserver", "--kube-context"]),
    (
        "systemctl",
        &["-H", "--host", "-M", "--machine", "--root", "--image"],
    ),
    ("cargo", &["--config", "-Z"]),
];
