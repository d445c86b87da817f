#!/usr/bin/env bash
# Lets the agent work on a copy of a small sample project. With a key of a provider in the environment the
# model is a real one; without, a script plays its part. Nothing is kept: the copy and all state lie in a
# temporary folder.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
nvim=$("$checkout/scripts/get-nvim.sh" any)

demo=$(mktemp -d "${TMPDIR:-/tmp}/dcode-demo.XXXXXX")
trap 'rm -rf "$demo"' EXIT
cp -R "$checkout/tests/fixtures/demo/project" "$demo/shop"
cd "$demo/shop"
if command -v git >/dev/null; then
  git init -q
  git add .
  git -c user.name=demo -c user.email=demo@localhost commit -qm 'the shop as it was'
fi

if [[ -n ${OPENAI_API_KEY:-} || -n ${DEEPSEEK_API_KEY:-} ]]; then
  unset DCODE_SCRIPT
  echo 'The model is a real one: a key is in the environment.'
else
  export DCODE_SCRIPT=${DCODE_SCRIPT:-$checkout/tests/fixtures/demo/script.toml}
  echo 'The model is a script: no OPENAI_API_KEY or DEEPSEEK_API_KEY is set.'
fi
echo "Neovim: $nvim"

# The agent runs the sample's tests with `nvim`.
PATH=$(dirname "$nvim"):$PATH
# Else a Neovim in the sandbox logs into the project.
export NVIM_LOG_FILE=/dev/null
export PATH XDG_CONFIG_HOME="$demo/config" XDG_STATE_HOME="$demo/state" XDG_DATA_HOME="$demo/data" \
  XDG_CACHE_HOME="$demo/cache"
"$nvim" --clean -n --cmd "set runtimepath^=$checkout" -c 'set number termguicolors' shop/total.lua \
  -c 'Dcode The tests of the shop fail (nvim -l test.lua). Find out why and fix it.' "$@"
