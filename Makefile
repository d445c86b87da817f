# One recipe for a person and for CI. `make help` says what there is.

CARGO ?= cargo
PREFIX ?= $(HOME)/.local
TOOLS := .deps/lua-tools
LUA := lua plugin scripts tests/lua tests/e2e tests/fixtures/demo

.PHONY: help demo build test test-rust faults test-lua test-e2e test-models lint lint-rust lint-lua lint-docs abi fmt bench bench-git \
	histories install-cli nvims clean

help: ## what there is
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## watch the agent work on a sample project
	@scripts/demo.sh

build: ## the library that Neovim loads: target/release/libdcode.so
	$(CARGO) build --release

test: build nvims histories test-rust test-models test-lua test-e2e ## everything, on Neovim 0.10, 0.11 and 0.12

# Built without the glue to Neovim, with which an executable does not link. That leaves a library
# without glue in target/debug; what Neovim loads is the one in target/release.
test-rust: ## the engine's tests
	@scripts/get-patch-peer.sh
	$(CARGO) test --no-default-features --lib --test rust
	$(CARGO) test --no-default-features --doc

faults: ## a patch that breaks off at every single system call (needs strace; minutes)
	DCODE_EVERY_CALL=1 $(CARGO) test --no-default-features --test rust broken_off -- --nocapture

test-models: ## the agent before model servers of others, fetched into .deps
	DCODE_MODEL_SERVERS=$$(scripts/get-model-servers.sh paths) \
		$(CARGO) test --no-default-features --test rust -- --ignored --nocapture --test-threads=1 strangers

test-lua: ## the Lua units, on each Neovim
	scripts/on-each-nvim.sh --clean -l tests/lua/run.lua

test-e2e: build ## real Neovims driven over RPC
	DCODE_NVIMS=$$(scripts/get-nvim.sh paths) $(CARGO) test --no-default-features --test e2e

nvims: ## fetch the Neovims for the tests into .deps
	@scripts/get-nvim.sh

lint: lint-rust lint-lua lint-docs abi ## format, lints, ABI, help tags

lint-rust:
	$(CARGO) fmt --check
	$(CARGO) check --no-default-features
	$(CARGO) clippy --all-targets --no-default-features -- -D warnings
	$(CARGO) clippy --lib -- -D warnings

lint-lua:
	@scripts/get-lua-tools.sh
	$(TOOLS)/stylua --check $(wildcard $(LUA))
	$(TOOLS)/luacheck --quiet $(wildcard $(LUA))

lint-docs:
	scripts/check-help.sh

abi: build ## what the library asks of Neovim is on the list
	tests/abi.sh

fmt: ## format Rust and Lua
	@scripts/get-lua-tools.sh stylua
	$(CARGO) fmt
	$(TOOLS)/stylua $(wildcard $(LUA))

bench: build ## how long a person waits, beside a plain-Lua floor; what streams cost
	$(CARGO) test --release --no-default-features --test rust -- --ignored --nocapture --test-threads=1 provider::bench
	DCODE_NVIMS=$$(scripts/get-nvim.sh paths) \
		$(CARGO) test --no-default-features --test e2e -- --ignored --nocapture --test-threads=1 bench
	$(CARGO) test --release --no-default-features --test rust -- --ignored --nocapture --test-threads=1 speed

histories: ## build the histories of three packages that the git tools are tested on
	@scripts/get-histories.sh

bench-git: ## the git tools beside the git program
	$(CARGO) test --release --no-default-features --test rust git::bench -- --ignored --nocapture

install-cli: build ## the command `dcode` into PREFIX/bin
	@mkdir -p "$(PREFIX)/bin"
	@printf '#!/bin/sh\nexec "$${DCODE_NVIM:-nvim}" -l "%s/lua/dcode/cli.lua" "$$@"\n' "$(CURDIR)" >"$(PREFIX)/bin/dcode"
	@chmod +x "$(PREFIX)/bin/dcode"
	@echo "installed $(PREFIX)/bin/dcode"

clean: ## remove what was built; .deps stays
	$(CARGO) clean
