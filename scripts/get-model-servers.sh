#!/usr/bin/env bash
# Brings servers that play a model and that this project did not write into .deps: aimock (npm) and llmock
# (PyPI). Run again it does nothing. `paths` prints where they are, as `aimock:llmock`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

AIMOCK=1.43.0
LLMOCK=0.2.2
deps="$PWD/.deps/model-servers"
aimock="$deps/aimock-$AIMOCK"
llmock="$deps/llmock-$LLMOCK"

fetch() {
  if [[ ! -e "$aimock/done" ]]; then
    rm -rf "$aimock"
    mkdir -p "$aimock"
    (cd "$aimock" && npm init -y >/dev/null && npm install --no-audit --no-fund --silent -E "@copilotkit/aimock@$AIMOCK")
    touch "$aimock/done"
  fi
  if [[ ! -e "$llmock/done" ]]; then
    rm -rf "$llmock"
    pip3 install --quiet --disable-pip-version-check --target "$llmock/lib" "llmock==$LLMOCK"
    # The folder may be moved: the program finds its library beside itself.
    cat >"$llmock/llmock" <<'END'
#!/bin/sh
here=$(dirname "$0")
PYTHONPATH="$here/lib" exec python3 "$here/lib/bin/llmock" "$@"
END
    chmod +x "$llmock/llmock"
    touch "$llmock/done"
  fi
}

fetch >&2
if [[ "${1:-}" == paths ]]; then
  echo "$aimock/node_modules/.bin/llmock:$llmock/llmock"
else
  echo "aimock $AIMOCK, llmock $LLMOCK"
fi
