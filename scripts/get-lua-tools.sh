#!/usr/bin/env bash
# Puts stylua and luacheck into .deps/lua-tools: links to what is on PATH, else stylua from npm. luacheck
# is a package of every system ("lua-check" in Debian), so it is only named. An argument asks for one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools=.deps/lua-tools
stylua_version=2.5.2
mkdir -p "$tools"

stylua() {
  local found
  [[ -x $tools/stylua ]] && return
  if found=$(type -P stylua); then
    ln -sf "$found" "$tools/stylua"
  elif command -v npm >/dev/null; then
    npm install --silent --no-audit --no-fund --save-exact --prefix "$tools/npm" \
      "@johnnymorganz/stylua-bin@$stylua_version"
    ln -sf npm/node_modules/.bin/stylua "$tools/stylua"
  else
    echo 'stylua is missing: cargo install stylua, or install npm' >&2
    return 1
  fi
}

luacheck() {
  local found
  [[ -x $tools/luacheck ]] && return
  if found=$(type -P luacheck); then
    ln -sf "$found" "$tools/luacheck"
  else
    echo 'luacheck is missing: apt-get install lua-check, or luarocks install luacheck' >&2
    return 1
  fi
}

case ${1:-all} in
  stylua) stylua ;;
  all) stylua && luacheck ;;
esac
