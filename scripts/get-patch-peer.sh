#!/usr/bin/env bash
# Brings the apply_patch that tests/rust/patch_peer.rs compares ours with into .deps/, as a package of npm.
# Where there is no npm, or no network, it says so; that fails where CI=true.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
at=${DCODE_DEPS:-$root/.deps}/patch-peer
version=0.171.0

if compgen -G "$at/node_modules/@openai/codex-*/vendor/*/bin/codex" >/dev/null; then
  exit 0
fi
mkdir -p "$at"
echo '{"private": true}' >"$at/package.json"
if ! npm install --prefix "$at" --save-exact --no-audit --no-fund "@openai/codex@$version" >"$at/npm.log" 2>&1; then
  echo "the patch peer cannot be had: see $at/npm.log" >&2
  [[ ${CI:-} == true ]] && exit 1
fi
exit 0
