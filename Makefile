# What a person types. Everything that is needed is installed by these targets.

CARGO ?= cargo
TARGET_DIR = $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)

.PHONY: help demo setup build test test-long lint format clippy docs dependencies bench clean-cache

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

demo: setup build ## Put a throw-away PostgreSQL on the dynamometer
	PGDYNO_PG_BIN="$$(scripts/find-postgres)" $(TARGET_DIR)/release/pgdyno demo

setup: ## Find a PostgreSQL server, or install one
	@scripts/install-postgres

build: ## Build the release binary
	$(CARGO) build --release --locked --package pgdyno

test: ## Run all tests, on real servers
	@scripts/install-test-tools
	eval "$$(scripts/test-env)" && $(CARGO) test --workspace --locked --no-fail-fast

test-long: export PGDYNO_TEST_LIES = all
test-long: export PGDYNO_TEST_HONEST_RUNS = 200
test-long: export PGDYNO_TEST_TPCC_SECONDS = 60
test-long: export PGDYNO_TEST_SEED = random
test-long: test ## Run all tests, with every lie, 200 honest runs and minutes of TPC-C

lint: format clippy docs dependencies ## Check format, lints, documentation and dependencies

format:
	$(CARGO) fmt --all --check

clippy:
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

docs:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

dependencies:
	@scripts/install-lint-tools
	@scripts/lint-dependencies

bench: ## Compare with pgbench and the floor; BENCH_ARGS="--quick" is short
	$(CARGO) build --release --locked --package pgdyno --package pgdyno-benches
	PGDYNO_PG_BIN="$$(scripts/find-postgres)" $(TARGET_DIR)/release/pgdyno-bench run $(BENCH_ARGS)

instructions: ## Count the instructions of one transaction; 5 % more than recorded fails
	@scripts/install-valgrind
	$(CARGO) build --release --locked --package pgdyno --package pgdyno-benches
	benches/instructions

clean-cache: ## Remove what setup, test and lint have unpacked here
	rm -rf .cache
