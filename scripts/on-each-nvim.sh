#!/usr/bin/env bash
# Runs each Neovim of the tests with the given arguments; fails if one of them fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

IFS=: read -r -a nvims <<<"$(scripts/get-nvim.sh paths 2>/dev/null)"
if [[ ${#nvims[@]} -eq 0 ]]; then
  scripts/get-nvim.sh
  exit 1
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
for nvim in "${nvims[@]}"; do
  "$nvim" --version | head -n 1
  env HOME="$scratch" XDG_CONFIG_HOME="$scratch/config" XDG_DATA_HOME="$scratch/data" \
    XDG_STATE_HOME="$scratch/state" XDG_CACHE_HOME="$scratch/cache" "$nvim" "$@" || failed=1
done
exit "$failed"
