# Longhand. `make help` lists the targets.

# Node of the version that the project pins, whatever the machine has.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

# Containers where a Docker engine answers; `NATIVE=1` does without.
ENGINE = $(if $(NATIVE),,$(shell docker compose version >/dev/null 2>&1 && docker version >/dev/null 2>&1 && echo yes))
INSTALLED := node_modules/.package-lock.json

.PHONY: help up down logs ps doctor test check lint types format load bench load-selftest setup

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F '|' '{ printf "  make %-14s %s\n", $$1, $$2 }'

up: ## start the stack and stay with it; Ctrl-C stops it (NATIVE=1: without Docker)
ifneq ($(ENGINE),)
	@docker compose up --build --wait && proxy/addresses.sh && docker compose up --no-recreate
else
	@proxy/packages.sh nginx redis-server
	@$(MAKE) $(INSTALLED)
	@exec node proxy/local.ts up
endif

down: ## stop the stack; the tasks are kept
ifneq ($(ENGINE),)
	docker compose down
else
	@node proxy/local.ts down
endif

logs: ## follow the logs of the containers
	docker compose logs --follow --tail 100

ps: ## show what runs
ifneq ($(ENGINE),)
	docker compose ps
else
	@node proxy/local.ts ps
endif

doctor: ## say what is missing on this machine, and how to go on
	@proxy/doctor.sh

setup: $(INSTALLED) ## install everything that tests need
	@proxy/packages.sh nginx redis-server chromium

test: setup ## run all tests
	@vitest run

check: setup ## everything that has to be right: format, lint, types, tests
	@$(MAKE) lint types
	@vitest run

lint: $(INSTALLED) ## check format, style and the compose file
	@biome ci .
ifneq ($(ENGINE),)
	@docker compose config --quiet
endif

types: $(INSTALLED) ## check the types
	@tsc

format: $(INSTALLED) ## put everything into its format
	@biome check --write .

load: $(INSTALLED) ## send load to a stack that runs (see loadtest/README.md)
	@npm run --silent load -w loadtest

bench: $(INSTALLED) ## measure the building blocks
	@npm run --silent bench -w loadtest

load-selftest: $(INSTALLED) ## prove that the load scripts notice what they should
	@npm run --silent selftest -w loadtest

$(INSTALLED): package-lock.json
	@npm ci
	@touch $@
