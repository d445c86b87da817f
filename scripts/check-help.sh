#!/usr/bin/env bash
# The help file: its tags are unique, and every |link| in it leads somewhere.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
"$(scripts/get-nvim.sh any)" --clean --headless -u NONE -l scripts/check-help.lua
