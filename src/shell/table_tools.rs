//! The rows of builders, package managers, clients of services, the network and interpreters.

use super::command::Class::{Change, Destructive, Read, Unknown};
use super::programs::{Risk, Row};
use super::table::{ELSEWHERE, FORCES, RUNS, WRITES, plain};

/// The rows, by subject.
pub(super) const TOOLS: &[Row] = &[
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
            Risk("-o", Unknown, WRITES),
            Risk("-O", Unknown, WRITES),
            Risk("-P", Unknown, WRITES),
            Risk("--output*", Unknown, WRITES),
            Risk("--remote-name*", Unknown, WRITES),
            Risk("-K", Unknown, "reads options from a file"),
            Risk("--config", Unknown, "reads options from a file"),
            Risk("-e", Unknown, "may be a command of wgetrc"),
            Risk("--execute", Unknown, "is a command of wgetrc"),
            Risk("--use-askpass", Unknown, RUNS),
            Risk("-d", Unknown, "sends data away"),
            Risk("--data*", Unknown, "sends data away"),
            Risk("-F", Unknown, "sends data away"),
            Risk("--form*", Unknown, "sends data away"),
            Risk("--post-*", Unknown, "sends data away"),
            Risk("--body-*", Unknown, "sends data away"),
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
