# Longhand. `make help` lists the targets.

# The project's Node, not the machine's.
export PATH := $(CURDIR)/node_modules/.bin:$(CURDIR)/.local/bin:$(PATH)
MAKEFLAGS += --no-print-directory

# Keeps make from expanding `$(shell …)` in a user's values. Recipes read them from the environment as "$$ID", so the shell
# does not run them either.
define as_text
override $1 := $$(value $1)
export $1
endef
$(foreach name,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(name)))),$(eval $(call as_text,$(name)))))

# A Docker engine responds, and NATIVE=1 is not set.
in_containers = [ -z "$$NATIVE" ] && docker compose version >/dev/null 2>&1 && docker version >/dev/null 2>&1
installed = node_modules/.package-lock.json
# Without packages nothing runs natively.
native = if [ -e $(installed) ]; then node deploy/native/main.ts $@; else echo 'The stack is not installed: `make up` installs it.'; fi
schemathesis = .local/schemathesis/bin/schemathesis
registry = .local/bin/registry

.PHONY: packages help up down kubernetes kubernetes-down kubernetes-test deploy-check logs observe ps replace backup restore doctor test test-long check lint types format load rehearse bench sbom release release-check screenshots load-selftest setup

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F '|' '{ printf "  make %-15s %s\n", $$1, $$2 }'

up: ## run the stack in the foreground; Ctrl-C stops it (NATIVE=1: without Docker)
	@if $(in_containers); then deploy/compose/up.sh; else \
		deploy/machine/packages.sh nginx redis-server && $(MAKE) --silent $(installed) && exec node deploy/native/main.ts up; fi

# With TASKS_REDIS_URL, compose also removes the network that an earlier TASKS_REDIS_URL needed.
down: ## stop the stack; the tasks are kept
	@if $(in_containers); then TASKS_REDIS_URL=none docker compose --profile observe down; else $(native); fi

logs: ## follow the logs; ID=… shows the lines about one request
	@if $(in_containers); then deploy/logs.sh "$$ID"; else deploy/logs.sh "$$ID" .local/stack.log; fi

observe: ## observe the running stack with Prometheus, in containers with Grafana too (REMOTE_WRITE=1 accepts k6's metrics)
	@if $(in_containers); then deploy/compose/observe.sh; else \
		deploy/machine/packages.sh mtail prometheus prometheus-node-exporter prometheus-redis-exporter && $(MAKE) --silent $(installed) && \
		exec node deploy/native/main.ts observe; fi

ps: ## show what is running
	@if $(in_containers); then docker compose --profile observe ps; else $(native); fi

replace: ## replace the replicas of SERVICE one by one, as in: make replace SERVICE=tasks
	@deploy/compose/replace.sh "$$SERVICE"

backup: ## save the tasks of the running stack into FILE=…, by default into backups/, where the newest 14 stay
	@if $(in_containers); then deploy/redis/backup.sh containers "$$FILE"; else deploy/redis/backup.sh native "$$FILE"; fi

restore: ## replace all tasks with those of FILE=…
	@if $(in_containers); then deploy/redis/restore.sh containers "$$FILE"; else deploy/redis/restore.sh native "$$FILE"; fi

kubernetes: ## run the stack in the cluster of the current context (see deploy/kubernetes)
	@deploy/kubernetes/up.sh

kubernetes-down: ## remove it from the cluster; the tasks only with WIPE=1
	@deploy/kubernetes/down.sh

kubernetes-test: setup ## run the acceptance suite and the rollouts there
	@vitest run --config acceptance/vitest.cluster.ts

deploy-check: setup ## render and check the descriptions for compose and Kubernetes, without a cluster
	@vitest run deploy/descriptions

doctor: ## report what this machine lacks, and how to get it
	@deploy/machine/doctor.sh

setup: packages ## install everything that the tests need
	@deploy/machine/packages.sh nginx redis-server caddy mtail prometheus prometheus-node-exporter prometheus-redis-exporter strace w3m lynx $$([ -n "$$CHROMIUM" ] || echo chromium-headless-shell)

test: setup ## run all tests; SEED=… repeats the random inputs of another run
	@vitest run

test-long: setup $(schemathesis) $(registry) ## run all tests, with crash storms and fuzzing at full length
	@LONG=1 vitest run

# Without Python or PyPI, the OpenAPI test is skipped.
$(schemathesis):
	-@python3 -m venv .local/schemathesis && .local/schemathesis/bin/pip install --quiet schemathesis==4.32.5

# Without Go and Debian's docker-registry, acceptance/year.test.ts is skipped.
$(registry):
	-@command -v registry >/dev/null || command -v docker-registry >/dev/null || \
		GOBIN=$(CURDIR)/.local/bin go install github.com/distribution/distribution/v3/cmd/registry@v3.1.2

check: setup ## all that CI runs: format and lint, types, tests
	@$(MAKE) lint types test

lint: packages ## check format, style, unused code and dependencies
	@biome ci .
	@knip
	@node checks/regular-expressions.ts
	@if command -v shellcheck >/dev/null; then shellcheck deploy/*.sh deploy/*/*.sh shared/src/*.sh proxy/*.envsh; fi
	@if command -v actionlint >/dev/null; then actionlint; fi
	@if $(in_containers); then docker compose config --quiet; fi

types: packages ## check the types, also in the scripts for browsers
	@npm run --silent types

format: packages ## format everything
	@biome check --write .

load: packages ## run load tests (see loadtest/README.md); SCRIPT=… ARGS=… OBSERVE=1
	@set -f; node loadtest/run.ts $$SCRIPT -- $$ARGS

rehearse: packages ## cause every fault of PROMISES.md (ROWS=… some) in containers, and check the outcome
	@vitest run --config acceptance/vitest.rehearsal.ts

bench: packages ## run the benchmarks; BENCH=stack or BENCH=command runs one
	@set -f; node loadtest/bench/run.ts $$BENCH

sbom: packages ## write an SBOM of each service (CycloneDX) to out/sbom/
	@mkdir -p out/sbom
	@for service in expander tasks; do deploy/release/sbom.sh $$service >out/sbom/$$service.cdx.json || exit; done
	@ls out/sbom/*

release: packages ## write a release to out/release/; PUSH=REGISTRY/NAME pushes its images there first
	@deploy/release/release.sh

release-check: packages ## list what this checkout lacks for a release
	@deploy/release/check.sh

screenshots: setup ## take the README's pictures again
	@node docs/screenshots.ts

load-selftest: packages ## check that the load scripts detect the fault they look for
	@node loadtest/selftest.ts

# npm would warn that the machine's Node is not the project's Node, which comes with the packages.
install = echo 'Installing packages from npm.' && npm ci --loglevel=error

# Running the stack needs only a fifth of the packages.
$(installed): package-lock.json
	@$(install) $$([ -e node_modules/.bin/vitest ] || echo --omit=dev)
	@touch $@

packages:
	@[ -e node_modules/.bin/vitest ] && [ ! package-lock.json -nt $(installed) ] || { $(install) && touch $(installed); }
