# Longhand. `make help` lists the targets.

# Prefer the project's Node to the machine's.
export PATH := $(CURDIR)/node_modules/.bin:$(CURDIR)/.local/bin:$(PATH)
MAKEFLAGS += --no-print-directory

# Prevents make from expanding `$(shell …)` in values from the command line. Recipes read the values from the environment, as in
# "$$ID", so the shell does not execute them either.
define as_text
override $1 := $$(value $1)
export $1
endef
$(foreach name,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(name)))),$(eval $(call as_text,$(name)))))

# True if a Docker engine responds and NATIVE is not set.
in_containers = [ -z "$$NATIVE" ] && docker compose version >/dev/null 2>&1 && docker version >/dev/null 2>&1
installed = node_modules/.package-lock.json
native = if [ -e $(installed) ]; then node deploy/native/main.ts $@; else echo 'The stack is not installed: `make up` installs it.'; fi
schemathesis = .local/schemathesis/bin/schemathesis
registry = .local/bin/registry

.PHONY: packages help up down kubernetes kubernetes-down kubernetes-test deploy-check logs observe ps replace backup drill restore doctor test test-long check lint types format load rehearse bench sbom release release-check screenshots load-selftest setup

help: ## list all targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F '|' '{ printf "  make %-15s %s\n", $$1, $$2 }'

up: ## run the stack in the foreground until Ctrl-C (NATIVE=1: without Docker)
	@if $(in_containers); then deploy/compose/up.sh; else \
		deploy/machine/packages.sh nginx redis-server && $(MAKE) --silent $(installed) && exec node deploy/native/main.ts up; fi

# With TASKS_REDIS_URL, compose also removes the network for an external Redis.
down: ## stop the stack, but keep the tasks
	@if $(in_containers); then TASKS_REDIS_URL=none docker compose --profile '*' down; else $(native); fi

logs: ## follow the logs; ID=… shows only one request
	@if $(in_containers); then deploy/logs.sh "$$ID"; else deploy/logs.sh "$$ID" .local/stack.log; fi

observe: ## monitor the running stack with Prometheus (in containers, also Grafana); REMOTE_WRITE=1 accepts metrics from k6
	@if $(in_containers); then deploy/compose/observe.sh; else \
		deploy/machine/packages.sh mtail prometheus prometheus-node-exporter && $(MAKE) --silent $(installed) && \
		exec node deploy/native/main.ts observe; fi

ps: ## list the running services
	@if $(in_containers); then docker compose --profile '*' ps; else $(native); fi

replace: ## replace the replicas of SERVICE=… (expander or tasks) one by one
	@deploy/compose/replace.sh "$$SERVICE"

backup: ## save the tasks of the running stack to FILE=… (default: a new file in backups/, which keeps the newest 14)
	@if $(in_containers); then deploy/redis/backup.sh containers "$$FILE"; else deploy/redis/backup.sh native "$$FILE"; fi

drill: ## test the backup FILE=…: load it into an empty Redis and print what it contains
	@if $(in_containers); then deploy/redis/drill.sh containers "$$FILE"; else deploy/redis/drill.sh native "$$FILE"; fi

restore: ## replace all tasks with the backup FILE=…
	@if $(in_containers); then deploy/redis/restore.sh containers "$$FILE"; else deploy/redis/restore.sh native "$$FILE"; fi

kubernetes: ## run the stack in the cluster of the current context (see deploy/kubernetes)
	@deploy/kubernetes/up.sh

kubernetes-down: ## remove the stack from the cluster (WIPE=1: also the tasks)
	@deploy/kubernetes/down.sh

kubernetes-test: setup ## run the acceptance and rollout tests in a cluster
	@vitest run --config acceptance/vitest.cluster.ts

deploy-check: setup ## render and check the files for compose and Kubernetes, without a cluster
	@vitest run deploy/descriptions

doctor: ## list missing programs, and how to install them
	@deploy/machine/doctor.sh

setup: packages ## install everything needed for the tests
	@deploy/machine/packages.sh nginx redis-server caddy mtail prometheus prometheus-node-exporter strace w3m lynx nghttpd=nghttp2-server $$([ -n "$$CHROMIUM" ] || echo chromium-headless-shell)

test: setup ## run all tests; SEED=… repeats the random inputs of an earlier run
	@vitest run

test-long: setup $(schemathesis) $(registry) ## run all tests, with crash storms and fuzzing at full length
	@LONG=1 vitest run

# The OpenAPI test is skipped if this fails, for example without Python.
$(schemathesis):
	-@python3 -m venv .local/schemathesis && .local/schemathesis/bin/pip install --quiet schemathesis==4.32.5

# acceptance/year.test.ts is skipped without Go or Debian's docker-registry.
$(registry):
	-@command -v registry >/dev/null || command -v docker-registry >/dev/null || \
		GOBIN=$(CURDIR)/.local/bin go install github.com/distribution/distribution/v3/cmd/registry@v3.1.2

check: setup ## run all CI checks: format and lint, types, tests
	@$(MAKE) lint types test

lint: packages ## check format, style, unused code and dependencies
	@biome ci .
	@knip
	@node checks/regular-expressions.ts
	@if command -v shellcheck >/dev/null; then shellcheck deploy/*.sh deploy/*/*.sh shared/src/*.sh proxy/*.envsh; fi
	@if command -v actionlint >/dev/null; then actionlint; fi
	@if $(in_containers); then docker compose config --quiet; fi

types: packages ## check the types, including browser scripts
	@npm run --silent types

format: packages ## format all files
	@biome check --write .

load: packages ## run load tests (see loadtest/README.md); SCRIPT=… ARGS=… COMPARE=… OBSERVE=1
	@set -f; node loadtest/run.ts $$SCRIPT -- $$ARGS

rehearse: packages ## cause every fault in PROMISES.md in containers and check the outcome (ROWS=…: only these rows)
	@vitest run --config acceptance/vitest.rehearsal.ts

bench: packages ## run all benchmarks, or only BENCH=stack or BENCH=command
	@set -f; node loadtest/bench/run.ts $$BENCH

sbom: packages ## write an SBOM for each service (CycloneDX) to out/sbom/
	@mkdir -p out/sbom
	@for service in expander tasks; do deploy/release/sbom.sh $$service >out/sbom/$$service.cdx.json || exit; done
	@ls out/sbom/*

release: packages ## write a release to out/release/ (PUSH=REGISTRY/NAME: push its images there first)
	@deploy/release/release.sh

release-check: packages ## list what this checkout lacks for a release
	@deploy/release/check.sh

screenshots: setup ## update the screenshots in the README
	@node docs/screenshots.ts

load-selftest: packages ## check that the load test detects a server without TCP no-delay
	@node loadtest/selftest.ts

# Hides npm's warning about the system's Node version, because the packages include the right version.
install = echo 'Installing packages from npm.' && npm ci --loglevel=error

# The stack needs only a fifth of the packages.
$(installed): package-lock.json
	@$(install) $$([ -e node_modules/.bin/vitest ] || echo --omit=dev)
	@touch $@

packages:
	@[ -e node_modules/.bin/vitest ] && [ ! package-lock.json -nt $(installed) ] || { $(install) && touch $(installed); }
