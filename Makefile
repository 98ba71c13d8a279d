# `make run` sets everything up and starts the server; `make test` sets everything up and runs all tests.
SHELL := /bin/sh
.DEFAULT_GOAL := help

# Node 22 from the pinned npm package, whatever version the host has.
export PATH := $(CURDIR)/node_modules/.bin:$(HOME)/.cargo/bin:$(PATH)
# The CPU build of ONNX Runtime is inside its package; the installer would fetch GPU libraries besides.
export ONNXRUNTIME_NODE_INSTALL := skip

MODULES := node_modules/.package-lock.json
ADDON := src/native/addon/built
NATIVE_SOURCES := $(shell find native -path native/target -prune -o \( -name '*.rs' -o -name 'Cargo.*' \) -print)

.PHONY: help setup run test quality bench-http bench-pay crash crash-workspaces fuzz arm64 lint format clean

help: ## This list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(ADDON) ## Install the packages and build the native part

$(MODULES): package.json package-lock.json
	@scripts/prerequisites.sh
	@echo "── installing packages (once, about a minute)"
	@# Not `npm ci`: it refuses a lock without every other platform's optional packages, which a mirror may not have.
	npm install --no-save --no-audit --no-fund --loglevel=error
	@# The test runner with the plugins of .taprc alone: Node strips the types itself.
	npx tap build >/dev/null
	@touch $@

$(ADDON): $(MODULES) $(NATIVE_SOURCES)
	@scripts/prerequisites.sh
	@echo "── building the native part (the first time about three minutes)"
	npm run --silent build:native
	@touch $@

run: setup ## Start the server; the first start shows a paid round trip
	@exec node src/main/main.ts

test: setup ## All checks and tests
	@node test/all.ts

quality: setup ## Retrieval quality on real sets, over HTTP
	@node bench/quality.ts $(SET)

bench-http: setup ## Latency of a search over HTTP
	@node bench/http.ts $(DOCUMENTS)

arm64: ## Compile the native part for arm64 (needs gcc-aarch64-linux-gnu and g++-aarch64-linux-gnu)
	@command -v aarch64-linux-gnu-g++ >/dev/null || { echo "sudo apt-get install -y gcc-aarch64-linux-gnu g++-aarch64-linux-gnu" >&2; exit 3; }
	rustup target add aarch64-unknown-linux-gnu
	CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc CXX_aarch64_unknown_linux_gnu=aarch64-linux-gnu-g++ \
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
	cargo build --manifest-path native/Cargo.toml --release --locked --workspace --target aarch64-unknown-linux-gnu

crash-workspaces: setup ## Kill the server 200 times while workspaces are paid for, extended and deleted
	@CRASH_ROUNDS=200 TAP_TIMEOUT=3600 node test/workspace/killed.test.ts

bench-pay: setup ## What a payment adds to a search
	@node bench/pay.ts

crash: setup ## Kill a server under paid traffic and compare the books: KILLS=1000 SEED=7
	@KILLS=$(KILLS) SEED=$(SEED) node test/payment/crash/main.ts

fuzz: setup ## Read changed files of every kind: FUZZ_SECONDS=3600 FUZZ_SEED=7
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-3600} TAP_TIMEOUT=100000 node test/extract/fuzz.test.ts

lint: setup ## Checks without tests
	@node test/all.ts 'format and lint' types 'native format' 'native lint'

format: $(MODULES) ## Format all code
	npx biome check --write .
	cargo fmt --manifest-path native/Cargo.toml --all

clean: ## Remove what was built (not the data)
	rm -rf node_modules native/target src/native/addon .tap
