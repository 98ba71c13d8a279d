# `make run` sets everything up and starts the server; `make test` sets everything up and runs the tests.
SHELL := /bin/sh
.DEFAULT_GOAL := help

# Node 22 from the pinned npm package, whatever version the host has.
export PATH := $(CURDIR)/node_modules/.bin:$(HOME)/.cargo/bin:$(PATH)
# The CPU build of ONNX Runtime is inside its package; the installer would fetch GPU libraries besides.
export ONNXRUNTIME_NODE_INSTALL := skip

MODULES := node_modules/.package-lock.json
ADDON := src/native/addon/built
CLIENT := dist/client/index.js
PEERS := bench/peers/node_modules/.package-lock.json
PEERS_INDEX := bench/peers/index/node_modules/.package-lock.json
NATIVE_SOURCES := $(shell find native -path native/target -prune -o \( -name '*.rs' -o -name 'Cargo.*' \) -print)
CONSOLE := .build/console/index.html
SERVER := .build/server/main.js
SERVER_SOURCES := $(shell find src -path src/console -prune -o -name '*.ts' ! -name '*.d.ts' -print) scripts/build-server.ts
CONSOLE_SOURCES := $(shell find src/console -type f) scripts/build-console.ts

.PHONY: help setup run test test-deep test-all quality bench-http client-faults runtimes bench-folder bench-console bench-pay crash crash-workspaces arm64 lint format clean bench-encode console server bench-workspaces docs bench-search bench-index crash-index damage-index gpu gpu-check fuzz bench bench-quick bench-compare bench-report soak bench-words bench-durable sanitize neon hostile samples bench-ingest bench-start

help: ## This list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(ADDON) $(CLIENT) $(CONSOLE) $(SERVER) ## Install the packages, build the native part, the client, the console and the server

$(MODULES): package.json package-lock.json
	@scripts/prerequisites.sh
	@echo "── installing packages (once, about a minute)"
	@# Not `npm ci`: it refuses a lock without every other platform's optional packages, which a mirror may not have.
	npm install --no-save --no-audit --no-fund --loglevel=error
	@# The test runner with the plugins of .taprc alone: Node strips the types itself.
	npx tap build >/dev/null
	@# `npx farthing` takes it from here. Without it npx keeps a link elsewhere, which does not survive a move of the file.
	@ln -sf ../../src/bin/farthing.js node_modules/.bin/farthing
	@touch $@

$(PEERS): bench/peers/package.json
	@echo "── installing the servers that benches compare with (once)"
	cd bench/peers && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

$(ADDON): $(MODULES) $(NATIVE_SOURCES)
	@scripts/prerequisites.sh
	@echo "── building the native part (the first time about three minutes)"
	npm run --silent build:native
	@touch $@

$(CLIENT): $(MODULES) tsconfig.client.json scripts/build-client.ts $(shell find src/client src/domain src/api -name "*.ts")
	npm run --silent build:client
	@touch $@

console: $(CONSOLE) ## Build the console

$(CONSOLE): $(MODULES) $(CONSOLE_SOURCES)
	@echo "── building the console"
	@npm run --silent build:console >/dev/null
	@touch $@

server: $(SERVER) ## Build the server

$(SERVER): $(MODULES) $(SERVER_SOURCES)
	@echo "── building the server"
	@node --no-warnings scripts/build-server.ts >/dev/null

run: setup ## Start the server; the first start shows a paid round trip
	@FARTHING_METRICS_PORT=$${FARTHING_METRICS_PORT:-$${METRICS_PORT:-9402}} exec node $(SERVER)

test: setup ## All checks, and every kind of test, in a few minutes; some files: npm test -- FILE…
	@node test/all.ts

test-deep: setup ## What `make test` leaves out or does few times, at full length
	@node test/all.ts --deep

test-all: setup ## Both, and one sum
	@node test/all.ts --all

quality: setup ## Retrieval quality over HTTP: on the sets beside the tree, or SET=folder (BEIR's shape, captions.json or questions.json)
	@node bench/quality/main.ts $(SET)

bench: setup $(PEERS) $(PEERS_INDEX) ## All beside Express + sqlite-vec + FTS5, with a report, ≤ 20 minutes: SET=folder
	@# Recall against speed comes from the day's bench-index; a small one where there was none.
	@ls bench/record/$$(date -u +%F)-*/index.json >/dev/null 2>&1 || ROWS=10000 TENANTS=100 SENTENCES=3000 node bench/index/main.ts || true
	@node --no-warnings bench/whole/main.ts bench $(SET)

bench-quick: setup $(PEERS) ## The same in three minutes
	@node --no-warnings bench/whole/main.ts bench-quick $(SET)

bench-compare: $(MODULES) ## Fails on a regression beyond the noise: A=before.json B=after.json
	@node bench/compare/main.ts $(A) $(B)

bench-report: $(MODULES) ## Write the report of a record anew: RECORD=bench/record/…/bench-….json
	@node bench/report/main.ts $(RECORD)

soak: setup ## Mixed traffic of many tenants; memory and open files must be flat: MINUTES=30
	@MINUTES=$(or $(MINUTES),30) node bench/soak/main.ts

bench-http: setup ## Latency of a search over HTTP
	@node bench/http/main.ts $(DOCUMENTS)

bench-encode: setup ## What stands around the model's forward pass: SECONDS=10 DOCUMENTS=400
	@node bench/encode/main.ts $(or $(SECONDS),10) $(or $(DOCUMENTS),400)

bench-start: setup ## From a spawn to the first /readyz that says yes: STARTS=6
	@node bench/start/main.ts $(or $(STARTS),6)

gpu: setup ## Lay out the CUDA provider from pinned wheels (needs only the NVIDIA driver)
	@scripts/gpu.sh

gpu-check: setup ## Parity, throughput, latency and fallback on a GPU; exit code 3 without one
	@node bench/gpu/main.ts

arm64: ## Compile the native part for arm64 (needs gcc-aarch64-linux-gnu and g++-aarch64-linux-gnu)
	@command -v aarch64-linux-gnu-g++ >/dev/null || { echo "sudo apt-get install -y gcc-aarch64-linux-gnu g++-aarch64-linux-gnu" >&2; exit 3; }
	rustup target add aarch64-unknown-linux-gnu
	CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc CXX_aarch64_unknown_linux_gnu=aarch64-linux-gnu-g++ \
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
	cargo build --manifest-path native/Cargo.toml --release --locked --workspace --target aarch64-unknown-linux-gnu

ARM_TARGET := aarch64-unknown-linux-gnu
neon: ## Run the kernels' property tests for NEON under an emulator (needs qemu-user and gcc-aarch64-linux-gnu)
	@command -v qemu-aarch64 >/dev/null && command -v aarch64-linux-gnu-gcc >/dev/null || { \
	  echo "sudo apt-get install -y --no-install-recommends qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross" >&2; exit 3; }
	@rustup target list --installed | grep -q $(ARM_TARGET) || rustup target add $(ARM_TARGET)
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" \
	cargo test --manifest-path native/Cargo.toml --release --locked --package farthing-kernels-check --target $(ARM_TARGET)

SANITIZER_TOOLCHAIN ?= nightly
sanitize: ## Writers, readers, merges, disposals and closings at once, under ThreadSanitizer: STRESS_ROUNDS=2000 SEED=7
	@rustup run $(SANITIZER_TOOLCHAIN) rustc --version >/dev/null 2>&1 && \
	  [ -d "$$(rustup run $(SANITIZER_TOOLCHAIN) rustc --print sysroot)/lib/rustlib/src/rust/library" ] || { \
	  echo "rustup toolchain install nightly --profile minimal --component rust-src" >&2; exit 3; }
	@# The standard library is compiled with the sanitizer too: only then are its locks and atomics understood.
	STRESS_ROUNDS=$(or $(STRESS_ROUNDS),400) SEED=$(or $(SEED),1) RUSTFLAGS=-Zsanitizer=thread CARGO_TARGET_DIR=native/target/sanitize \
	TSAN_OPTIONS="halt_on_error=1 second_deadlock_stack=1" CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
	rustup run $(SANITIZER_TOOLCHAIN) cargo test --manifest-path native/Cargo.toml --release --locked --package farthing-core \
	  -Zbuild-std --target $$(rustc -vV | sed -n 's/^host: //p') --test concurrency -- --nocapture

crash-workspaces: setup ## Kill the server 200 times while workspaces are paid for, extended and deleted
	@CRASH_ROUNDS=$(or $(CRASH_ROUNDS),200) TAP_TIMEOUT=7200 node test/workspace/disposal/killed.test.ts

RUNTIMES := bench/peers/runtimes/node_modules/.package-lock.json
$(RUNTIMES): bench/peers/runtimes/package.json
	cd bench/peers/runtimes && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

runtimes: setup $(RUNTIMES) ## The client in Node, Deno, Bun and Chromium; `make test` does the same where they are
	@TAP_TIMEOUT=900 node test/client/runtimes.test.ts

bench-folder: setup ## `farthing ingest` of a folder beside the bare uploads, interrupted and killed: FILES=500
	@node bench/folder/main.ts $(or $(FILES),500)

bench-console: setup ## The console's first view and its frames over a thousand hits, in Chromium
	@node bench/console/main.ts

client-faults: setup ## 500 paid calls of the client over a failing proxy: CLIENT_CALLS=500 SEED=11
	@CLIENT_CALLS=$(or $(CLIENT_CALLS),500) SEED=$(or $(SEED),11) TAP_TIMEOUT=3600 node test/client/payments.test.ts

bench-workspaces: setup ## 10,000 workspaces: memory, start, sweep, noisy neighbours (WORKSPACES=500 for less)
	@WORKSPACES=$(WORKSPACES) LIMIT=$(LIMIT) FLOOD_SECONDS=$(FLOOD_SECONDS) REFUSALS=$(REFUSALS) node bench/workspaces/main.ts

bench-pay: setup $(PEERS) ## What a payment adds to a search, beside Express with @x402/express
	@node bench/pay/main.ts

crash: setup ## Kill a server under paid traffic and compare the books: KILLS=1000 SEED=7 CRASH_SECONDS=1800
	@KILLS=$(KILLS) SEED=$(SEED) CRASH_SECONDS=$(CRASH_SECONDS) node test/payment/crash/main.ts

docs: setup ## Write docs/configuration.md anew from the settings
	@node src/bin/farthing.js admin settings > docs/configuration.md

bench-search: setup ## What scan and fusion cost, without the model and HTTP: ABSTRACTS=1500
	@node bench/search/main.ts $(ABSTRACTS)

bench-words: setup ## Search by words alone: ROWS=100000,1000000 (a million take some minutes to fill)
	@ROWS=$(ROWS) node bench/words/main.ts

bench-durable: setup ## Durable appends beside lmdb's own commits, and many tenants: TENANTS=10000 (some minutes)
	@TENANTS=$(TENANTS) node bench/durable/main.ts

$(PEERS_INDEX): bench/peers/index/package.json
	cd bench/peers/index && npm install --no-save --no-audit --no-fund --loglevel=error
	@touch $@

bench-index: setup $(PEERS_INDEX) ## The index beside other engines: ROWS=10000,100000 TENANTS=1000
	@ROWS=$(ROWS) TENANTS=$(TENANTS) QUERIES=$(QUERIES) GRAPH_ROWS_MAX=$(GRAPH_ROWS_MAX) SENTENCES=$(SENTENCES) ENGINES="$(ENGINES)" node bench/index/main.ts

crash-index: setup ## Kill the writer of an index 200 times: KILLS=1000 SEED=7
	@KILLS=$(or $(KILLS),200) SEED=$(or $(SEED),1) TAP_TIMEOUT=7200 node test/shard/crash/killed.test.ts

damage-index: setup ## Damage an index file in 1,000 ways: CASES=5000 SEED=7
	@CASES=$(or $(CASES),1000) SEED=$(or $(SEED),1) TAP_TIMEOUT=7200 node test/shard/crash/damaged.test.ts

fuzz: setup ## Read changed files of every kind: FUZZ_SECONDS=3600 FUZZ_SEED=7
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-3600} TAP_TIMEOUT=100000 node test/extract/fuzz.test.ts

hostile: setup ## Hostile files and requests against a server that others search: HOSTILE_SECONDS=20
	@HOSTILE_SECONDS=$(HOSTILE_SECONDS) TAP_TIMEOUT=7200 node --no-warnings test/hostile/main.ts

samples: setup ## Table of every sample file: type, segments, locators, time
	@node --no-warnings bench/samples/main.ts

bench-ingest: setup ## Pages, pictures and film through the server against bare decoders and models: ROUNDS=3 FILES=1000
	@ROUNDS=$(ROUNDS) FILES=$(FILES) node --no-warnings bench/ingest/main.ts

lint: setup ## Checks without tests
	@node test/all.ts 'format and lint' types 'console types' 'native format' 'native lint'

format: $(MODULES) ## Format all code
	npx biome check --write .
	cargo fmt --manifest-path native/Cargo.toml --all

clean: ## Remove what was built (not the data)
	rm -rf node_modules native/target src/native/addon dist .tap .build/console .build/test .build/compile-cache .build/*.tsbuildinfo
