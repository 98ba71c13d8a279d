# `make run` sets everything up and starts the server; `make test` sets everything up and runs the tests.
SHELL := /bin/sh
.DEFAULT_GOAL := help

# Node 22 from the pinned npm package, whatever version the host has.
export PATH := $(CURDIR)/node_modules/.bin:$(HOME)/.cargo/bin:$(PATH)
# Packages and crates come side by side: the one waits for the network and the disk, the other for the processor.
MAKEFLAGS += --jobs=2
# No program below is a make: cargo would look for the job server of this one, and warn.
unexport MAKEFLAGS MFLAGS
# The CPU build of ONNX Runtime is inside its package; the installer would fetch GPU libraries besides.
export ONNXRUNTIME_NODE_INSTALL := skip

MODULES := node_modules/.package-lock.json
CHECKED := .build/prerequisites
CRATES := native/target/crates
# Named, because cargo keeps what it builds for a named target apart: checks and tests name it, too.
TARGET = $(shell rustc -vV | sed -n 's/^host: //p')
ADDON := src/native/addon/built
CLIENT := dist/client/index.js
TAP := node_modules/.tap-built
NATIVE_SOURCES := $(shell find native -path native/target -prune -o \( -name '*.rs' -o -name 'Cargo.*' \) -print)
CONSOLE := .build/console/index.html
SERVER := .build/server/main.js
SERVER_SOURCES := $(shell find src \( -path src/console -o -name node_modules \) -prune -o -name '*.ts' ! -name '*.d.ts' -print) scripts/build-server.ts
CONSOLE_SOURCES := $(shell find src/console src/client src/protocol -name node_modules -prune -o -type f -print) scripts/build-console.ts

.PHONY: help cluster-up etcd garage python fits python-answers clients setup console server run package test test-deep test-all quality bench bench-data measured soak siege samples gpu gpu-check crash crash-cluster crash-workspaces crash-index damage-index fuzz hostile client-faults runtimes docs sanitize lint format clean

help: ## This list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(ADDON) $(CONSOLE) $(SERVER) $(CLIENT) $(TAP) ## Install the packages, build the native part, the console, the server, the client and the test runner

# What a bench lacks is told before anything is installed or built.
BENCHES := $(patsubst bench-%,%,$(filter bench-%,$(filter-out bench-data bench-measured,$(MAKECMDGOALS)))) \
  $(if $(filter bench,$(MAKECMDGOALS)),$(NAME)) $(filter quality siege soak samples,$(MAKECMDGOALS))
.PHONY: bench-checked
bench-checked:
	@$(foreach name,$(BENCHES),node bench/check.js $(name);)

$(CHECKED): scripts/prerequisites.sh native/Cargo.toml $(if $(strip $(BENCHES)),| bench-checked)
	@scripts/prerequisites.sh
	@mkdir -p $(@D) && touch $@

$(MODULES): package.json package-lock.json $(wildcard src/*/package.json) scripts/link-packages.ts | $(CHECKED)
	@echo "── packages: installing (once, about half a minute)"
	@# Not `npm ci`: it refuses a lock without every other platform's optional packages, which a mirror may not have.
	@npm install --no-save --no-audit --no-fund --no-progress --loglevel=error || { \
	  echo "The packages could not be installed: npm says why above. Without a network there is nothing to install from; \`npm ping\` tries it." >&2; exit 1; }
	@# `npx farthing` takes it from here. Without it npx keeps a link elsewhere, which does not survive a move of the file.
	@ln -sf ../../src/bin/farthing.js node_modules/.bin/farthing
	@node --no-warnings scripts/link-packages.ts
	@touch $@
	@echo "── packages: installed"

# The test runner with the plugins of .taprc alone: Node strips the types itself.
$(TAP): $(MODULES) .taprc
	@echo "── building the test runner"
	@npx tap build >/dev/null 2>&1
	@touch $@

$(CRATES): $(NATIVE_SOURCES) | $(CHECKED)
	@echo "── native part: compiling (the first time a minute or two)"
	@mkdir -p native/target/napi-rs/types
	@cargo build --release --locked --target $(TARGET) --manifest-path native/Cargo.toml -p farthing-napi $(if $(filter 0,$(GRAPH)),--no-default-features) || { \
	  echo "The native part could not be built: cargo says why above." >&2; \
	  cargo tree --offline --locked --target $(TARGET) --manifest-path native/Cargo.toml -p farthing-napi -e no-dev >/dev/null 2>&1 || \
	  echo "Crates are missing here: without a network there is nothing to build from." >&2; exit 1; }
	@touch $@

$(ADDON): $(MODULES) $(CRATES) scripts/build-addon.ts
	@node --no-warnings scripts/build-addon.ts $(TARGET)
	@echo "── native part: built"
	@touch $@

$(CLIENT): $(MODULES) tsconfig.client.json scripts/build-client.ts $(shell find src/client src/protocol -path '*/node_modules' -prune -o -name "*.ts")
	@echo "── building the client"
	@npm run --silent build:client
	@touch $@

console: $(CONSOLE)

$(CONSOLE): $(MODULES) $(CONSOLE_SOURCES)
	@echo "── building the console"
	@npm run --silent build:console >/dev/null
	@touch $@

server: $(SERVER)

$(SERVER): $(MODULES) $(SERVER_SOURCES)
	@echo "── building the server"
	@node --no-warnings scripts/build-server.ts >/dev/null

run: $(ADDON) $(CONSOLE) $(SERVER) ## Start the server; the first start shows a paid round trip
	@FARTHING_METRICS_PORT=$${FARTHING_METRICS_PORT:-$${METRICS_PORT:-9402}} exec node $(SERVER)

package: setup ## The packages that work without the tree, in .build/packages: npm install them anywhere, then npx farthing serve
	@node --no-warnings scripts/package.ts
	@node --no-warnings scripts/package-client.ts

test: setup ## All checks, and every kind of test, in a few minutes; some files: npm test -- FILE…
	@node test/all.ts

test-deep: setup ## What `make test` leaves out or does few times, at full length
	@node test/all.ts --deep

test-all: setup ## Both, and one sum
	@node test/all.ts --all

NAME ?= whole

bench: $(if $(filter list,$(NAME)),,setup) ## The whole job beside an assembled stack; NAME=list lists the other benches
	@node --no-warnings bench/$(if $(filter list,$(NAME)),check.js,main.ts) $(NAME)

# Variables of the command line (ROWS=10000) reach the programs as environment.
bench-%: setup
	@node --no-warnings bench/main.ts $*

bench-data: setup ## Bring larger sets for the benches, or say where they come from
	@node --no-warnings bench/data.ts

quality: bench-quality ## Retrieval quality over HTTP, on the sets of the tree or SET=folder
siege: bench-siege ## A paying client's searches while strangers attack (ATTACK=words SECONDS=10)
soak: bench-soak
samples: bench-samples
gpu-check: bench-gpu ## Parity, throughput, latency and fallback on a GPU; exit code 3 without one

measured: bench-measured ## Write docs/measured.md and the README's table from bench/record

gpu: setup ## Lay out the CUDA provider from pinned wheels (needs only the NVIDIA driver)
	@scripts/gpu.sh

python: .build/python/pins ## Python's packages for the tests of its client, quickstart, recipes and tools (needs python3 with venv)

.build/python/pins: scripts/python-pins.txt
	python3 -m venv .build/python
	.build/python/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

fits: .build/fits/pins ## scikit-learn for the benches that fit confidence (needs python3 with venv)

.build/fits/pins: bench/calibration/python-pins.txt
	python3 -m venv .build/fits
	.build/fits/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

python-answers: $(MODULES) ## Write the types of the Python client from the server's schemas, and its blocking half from the async one
	@node --no-warnings scripts/python-answers.ts

clients: setup ## Clients that generators make of the description, and the Python client, each used against a server; says what did not run and why
	-@$(MAKE) --no-print-directory python
	@node test/all.ts --deep test/server/http/docs/generated-client.test.ts test/server/http/docs/generated-python.test.ts test/client/python.test.ts

garage: .build/garage/bin/garage ## Garage, a server of S3, from its crate, for the tests of src/cluster/stores/objects (needs Rust; minutes)

.build/garage/bin/garage:
	cargo install garage --version 2.5.0 --locked --root .build/garage

# FIRST_PORT=9000: the balancer's, and those of the others after it.
cluster-up: setup .build/etcd ## Three servers, three members of etcd and a balancer on this machine (etcd needs Go)
	@exec node --no-warnings scripts/cluster-up.ts

etcd: .build/etcd ## The server of etcd from its Go module, for the tests of src/cluster (needs Go)

.build/etcd: scripts/etcd/main.go scripts/etcd/go.mod scripts/etcd/go.sum
	@command -v go >/dev/null || { echo "Go is needed to build etcd: https://go.dev/dl" >&2; exit 3; }
	@mkdir -p .build
	cd scripts/etcd && go build -trimpath -o ../../$@ .

# Tests that take long, each at the length that its variables give. bench/record/NOTES.md says what they have shown.
# ETCD=1: books in etcd and content in objects, the whole data folder deleted after each kill (needs `make etcd`). POWER=1: power cuts (needs root).
crash: setup
	@node test/payment/crash/main.ts

# Three servers that share their slots (needs `make etcd`).
crash-cluster: setup
	@CRASH_KILLS=$(or $(EVENTS),100) CRASH_SEED=$(SEED) CRASH_SECONDS=$(or $(CRASH_SECONDS),86400) TAP_TIMEOUT=100000 \
	  node --no-warnings test/payment/crash/crash-cluster.test.ts

# SHARED=1: three servers that share their slots (needs `make etcd`).
crash-workspaces: setup
	@CRASH_ROUNDS=$(or $(CRASH_ROUNDS),200) TAP_TIMEOUT=7200 node test/server/workspace/disposal/killed.test.ts

crash-index: setup
	@KILLS=$(or $(KILLS),200) SEED=$(or $(SEED),1) TAP_TIMEOUT=7200 node test/engine/shard/crash/killed.test.ts

damage-index: setup
	@CASES=$(or $(CASES),1000) SEED=$(or $(SEED),1) TAP_TIMEOUT=7200 node test/engine/shard/crash/damaged.test.ts

fuzz: setup
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-3600} TAP_TIMEOUT=100000 node test/readers/fuzz.test.ts

hostile: setup
	@HOSTILE=1 TAP_TIMEOUT=7200 node --no-warnings test/hostile/hostile.test.ts

client-faults: setup
	@CLIENT_CALLS=$(or $(CLIENT_CALLS),500) SEED=$(or $(SEED),11) TAP_TIMEOUT=3600 node test/client/payments.test.ts

RUNTIMES := bench/peers/runtimes/node_modules/.package-lock.json
$(RUNTIMES): bench/peers/runtimes/package.json
	cd bench/peers/runtimes && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# The client in Node, Deno, Bun and Chromium; `make test` does the same where they are installed.
runtimes: setup $(RUNTIMES)
	@TAP_TIMEOUT=900 node test/client/runtimes.test.ts

docs: setup ## Write anew what docs/ says of settings and formats
	@node src/bin/farthing.js admin settings > docs/configuration.md
	@node --no-warnings scripts/format-docs.ts

SANITIZER_TOOLCHAIN ?= nightly
# Writers, readers, merges, disposals and closings at once, under ThreadSanitizer: STRESS_ROUNDS=2000 SEED=7
sanitize:
	@rustup run $(SANITIZER_TOOLCHAIN) rustc --version >/dev/null 2>&1 && \
	  [ -d "$$(rustup run $(SANITIZER_TOOLCHAIN) rustc --print sysroot)/lib/rustlib/src/rust/library" ] || { \
	  echo "rustup toolchain install nightly --profile minimal --component rust-src" >&2; exit 3; }
	@# The standard library is compiled with the sanitizer too: only then are its locks and atomics understood.
	STRESS_ROUNDS=$(or $(STRESS_ROUNDS),400) SEED=$(or $(SEED),1) RUSTFLAGS=-Zsanitizer=thread CARGO_TARGET_DIR=native/target/sanitize \
	TSAN_OPTIONS="halt_on_error=1 second_deadlock_stack=1" CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
	rustup run $(SANITIZER_TOOLCHAIN) cargo test --manifest-path native/Cargo.toml --release --locked --package farthing-core \
	  -Zbuild-std --target $$(rustc -vV | sed -n 's/^host: //p') --test concurrency -- --nocapture

lint: setup ## Checks without tests
	@node test/all.ts 'format and lint' types 'console types' 'native format' 'native lint'

format: $(MODULES) ## Format all code
	npx biome check --write .
	cargo fmt --manifest-path native/Cargo.toml --all

clean: ## Remove what was built (not the data)
	rm -rf node_modules native/target src/native/addon dist .tap .build/console .build/test .build/compile-cache .build/*.tsbuildinfo
