#!/usr/bin/env bash
# Builds repositories out of the releases of three packages, one commit a release, into .deps/histories/: what
# the tests compare the git tools with the git program on. What is there already is not built again. Without a
# network, or without npm and pip, it says so; where CI=true that fails.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
histories=${DCODE_DEPS:-$root/.deps}/histories
mkdir -p "$histories"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=Releases GIT_AUTHOR_EMAIL=releases@example.invalid
export GIT_COMMITTER_NAME=Releases GIT_COMMITTER_EMAIL=releases@example.invalid

express="4.0.0 4.1.0 4.2.0 4.3.0 4.4.0 4.5.0 4.6.0 4.7.0 4.8.0 4.9.0 4.10.0 4.11.0 4.12.0 4.13.0 4.14.0 4.15.0
  4.16.0 4.17.0 4.18.0 4.19.0 4.20.0 4.21.0 5.0.0 5.1.0"
eslint="3.0.0 3.4.0 3.8.0 3.12.0 3.16.0 3.19.0 4.0.0 4.4.0 4.8.0 4.12.0 4.16.0 4.19.0 5.0.0 5.4.0 5.8.0 5.12.0
  5.16.0 6.0.0 6.4.0 6.8.0 7.0.0 7.8.0 7.16.0 7.24.0 7.32.0 8.0.0 8.10.0 8.20.0 8.30.0 8.40.0 8.50.0 8.57.0"
requests="2.0.0 2.1.0 2.2.0 2.3.0 2.4.0 2.5.0 2.6.0 2.7.0 2.8.0 2.9.0 2.10.0 2.11.0 2.12.0 2.13.0 2.14.0 2.15.1
  2.16.0 2.17.0 2.18.0 2.19.0 2.20.0 2.21.0 2.22.0 2.23.0 2.24.0 2.25.0 2.26.0 2.27.0 2.28.0 2.29.0 2.30.0 2.31.0"

# Prints the archive of version $2 of the package $1, fetched into $3.
from_npm() {
  (cd "$3" && npm pack --silent "$1@$2" >/dev/null && ls "$PWD/$1-$2.tgz")
}

from_pip() {
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$3" "$1==$2"
  ls "$3/$1-$2"*.whl
}

# Builds the history of the package $1 with the archives that the function $2 fetches; the rest are versions.
build() {
  local name=$1 fetch=$2 work time=1400000000
  shift 2
  [[ -f $histories/$name/.complete ]] && return
  work=$(mktemp -d)
  git init -q -b main "$work/tree"
  for version in "$@"; do
    local archive
    mkdir -p "$work/fetched"
    archive=$("$fetch" "$name" "$version" "$work/fetched") || return 1
    find "$work/tree" -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +
    case $archive in
    *.tgz) tar -xzf "$archive" -C "$work/tree" --strip-components=1 ;;
    *.whl) python3 -m zipfile -e "$archive" "$work/tree" ;;
    esac
    time=$((time + 86400))
    git -C "$work/tree" -c gc.auto=0 add -A -f
    GIT_AUTHOR_DATE="$time +0000" GIT_COMMITTER_DATE="$time +0000" \
      git -C "$work/tree" -c gc.auto=0 commit -q --allow-empty -m "$name $version"
    rm -r "$work/fetched"
  done
  git -C "$work/tree" gc -q
  touch "$work/tree/.git/complete"
  rm -rf "${histories:?}/$name"
  mv "$work/tree" "$histories/$name"
  mv "$histories/$name/.git/complete" "$histories/$name/.complete"
  echo ".complete" >>"$histories/$name/.git/info/exclude"
  rm -rf "$work"
  echo "$name: $# releases"
}

failed=
# shellcheck disable=SC2086 # lists of words
{
  (build express from_npm $express) || failed="$failed express"
  (build eslint from_npm $eslint) || failed="$failed eslint"
  (build requests from_pip $requests) || failed="$failed requests"
}
if [[ -n $failed ]]; then
  echo "histories that could not be built:$failed" >&2
  [[ ${CI:-} != true ]]
fi
