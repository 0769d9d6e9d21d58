# What can be done with this repository. Two of these are all that a fresh
# machine needs: `make serve` and `make test`.
#
# Needed: Go 1.26 or later (https://go.dev/dl) and Node 20 or later
# (https://nodejs.org). The tests of the page also need a Chromium, and run in
# Firefox and WebKit where they are; `make test` installs all three where there is
# apt-get and the right to use it.

GO ?= go
PORT ?= 8080
DIST ?= dist
PACKAGES ?= packages
# Where the site is, with https:// and a slash at the end: make address SITE=... sets it here.
# Documents, packages and snippets say it; while it is empty they say
# https://example.org/memtide/, which is no address of memtide.
SITE ?=
PYTHON ?= $(or $(wildcard /usr/bin/python3),python3)
NODE_EXEC = $(shell $(GO) env GOROOT)/lib/wasm/go_js_wasm_exec
export MEMTIDE_DIST = $(abspath $(DIST))

.DEFAULT_GOAL := help
.PHONY: help serve build generate test test-native test-wasm test-browser in-node in-chromium in-engines test-torch race pinned check check-long bench measure fuzz release dist address clean tools chromium firefox webkit torch

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 24

serve: build ## build the site and serve it on http://localhost:8080 (PORT=...)
	$(GO) run ./cmd/memtide serve -dir $(DIST) -addr localhost:$(PORT)

build: tools ## build the site into dist/
	$(GO) run ./cmd/build -out $(DIST) -site "$(SITE)"

generate: ## regenerate the components, and profiles/memtide_torch.py from profiles/python/memtide (build does it too)
	$(GO) run ./cmd/build -generate

# The tests in Chromium run alone: an open page computes curves, more of them the longer its
# test waits for a core. Of the others two parts run at a time, because neither keeps two cores
# busy: a browser waits, a test is compiled. What a part writes is printed when it ends; a part
# that fails does not stop the others.
test: tools chromium firefox webkit build ## run all tests: native, WebAssembly in Node, the page in three browsers
	@passed=true; $(MAKE) --no-print-directory in-chromium || passed=false; \
	$(MAKE) --no-print-directory -k -j2 -O in-engines test-native in-node || passed=false; \
	$$passed || { echo "make test: not all tests pass; the lines above that begin with FAIL say which" >&2; exit 1; }

# Collecting garbage less often saves a sixth of the time of the tests.
test-native in-node: export GOGC = 400
test-native:
	$(GO) test -timeout 30m -vet=off $$($(GO) list ./... | grep -v /web/browsertest)

# The engine is the same code in WebAssembly; what can differ are numbers, stopping without
# threads, and memory. So Node runs the tests against recorded answers and the contract of all
# methods, those that stop, and what the page's programs answer.
IN_NODE = Vectors|Golden|Contract|Extreme|SameEverywhere|Int64|LargeNumbers|Stop|Soon|Deadline|Yield|Endless|TestPlay$$
test-wasm: tools in-node
in-node:
	GOOS=js GOARCH=wasm $(GO) test -timeout 30m -short -vet=off -exec "$(NODE_EXEC)" -run '$(IN_NODE)' ./engine/...
	GOOS=js GOARCH=wasm $(GO) test -timeout 30m -short -vet=off -exec "$(NODE_EXEC)" ./wasm/proto ./wasm/serve

test-browser: chromium firefox webkit build in-chromium in-engines
in-chromium:
	$(GO) test -vet=off -count=1 -timeout 40m ./web/browsertest
in-engines:
	$(GO) test -vet=off -count=1 -timeout 40m -parallel 3 -v ./web/browsertest/engines

test-torch: torch ## run the tests of the collector and of plans with PyTorch (PYTHON=...)
	$(GO) build -o bin/memtide ./cmd/memtide
	PYTHON=$(PYTHON) MEMTIDE=$(abspath bin/memtide) $(PYTHON) -B profiles/torchtest/test_package.py
	PYTHON=$(PYTHON) $(PYTHON) -B profiles/torchtest/test_collect.py
	MEMTIDE=$(abspath bin/memtide) $(PYTHON) -B profiles/torchtest/test_estimate.py
	PYTHON=$(PYTHON) MEMTIDE=$(abspath bin/memtide) $(PYTHON) -B profiles/torchtest/test_plans.py
	PYTHON=$(PYTHON) MEMTIDE=$(abspath bin/memtide) $(PYTHON) -B profiles/torchtest/test_steps.py
	$(PYTHON) -B profiles/torchtest/test_malformed.py
	MEMTIDE=$(abspath bin/memtide) $(PYTHON) -B profiles/torchtest/test_export.py

# What runs beside something else. The detector needs a C compiler.
CONCURRENT = ./wasm/pool ./wasm/serve ./web/jobs ./web/state ./web/fileserver ./cmd/memtide ./engine
race: ## run the tests of what is concurrent with the race detector (needs gcc)
	CGO_ENABLED=1 $(GO) test -race -short -timeout 40m $(CONCURRENT)

# Modules are what go.sum says, packages what package-lock.json says (the build
# fetches them by npm ci, which refuses anything else).
pinned: tools
	$(GO) mod verify
	npm ci --ignore-scripts --no-audit --no-fund

check: tools pinned ## format, vet, staticcheck, pinned modules and packages, generated code up to date
	@out=$$(gofmt -l $$(git ls-files '*.go' | grep -v '_gen\.go$$')); if [ -n "$$out" ]; then echo "not formatted (gofmt -w):"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	GOOS=js GOARCH=wasm $(GO) vet ./wasm/... ./web/app ./web/ui/...
	$(GO) tool staticcheck ./...
	$(GO) run ./cmd/build -check
	MEMTIDE_LONG=1 $(GO) test ./cmd/build ./cmd/wasmopt/...

# What make test leaves out: proofs that take minutes, all of REPRODUCTIONS.md, and the page in every state, width and
# theme that it is checked in.
check-long: chromium firefox webkit build ## run all native tests and those of the page with the long proofs
	MEMTIDE_LONG=1 $(GO) test -timeout 60m $$($(GO) list ./... | grep -v /web/browsertest)
	MEMTIDE_LONG=1 $(MAKE) --no-print-directory in-chromium in-engines

bench: ## run the benchmarks, three times each
	$(GO) test -run '^$$' -bench . -benchmem -count 3 ./engine/... ./web/draw ./wasm/serve

measure: chromium release ## measure the page in Chromium: start, drag, sweep, frames
	MEMTIDE_MEASURE=1 $(GO) test -timeout 30m -count=1 -v -run Measure ./web/browsertest

fuzz: ## fuzz every fuzz target for FUZZTIME (30s)
	@for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg 2>/dev/null | grep '^Fuzz'); do \
			echo "$$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $${FUZZTIME:-30s} $$pkg || exit 1; \
		done; \
	done

release: tools pinned ## build the site with compressed files beside the large ones, ready for a static host
	rm -rf $(DIST)
	$(GO) run ./cmd/build -out $(DIST) -release -site "$(SITE)"

dist: tools pinned ## build what people install into packages/: commands, Python wheels, npm package, site
	rm -rf $(DIST)
	$(GO) run ./cmd/build -out $(DIST) -release -site "$(SITE)" -packages $(PACKAGES)

address: ## write SITE=https://... into this file, from which documents and packages take it, and into the README
	@case "$(SITE)" in http*://*/) ;; *) echo "say where the site is, with a slash at the end: make address SITE=https://.../" >&2; exit 1;; esac
	sed -i.bak 's|^SITE ?=.*|SITE ?= $(SITE)|' Makefile
	sed -i.bak 's|^Try it: .*<!-- address -->$$|Try it: [$(SITE)]($(SITE)) <!-- address -->|' README.md
	rm -f Makefile.bak README.md.bak

clean: ## remove what was built and fetched
	rm -rf $(DIST) $(PACKAGES) node_modules

tools:
	@command -v $(GO) >/dev/null || { echo "Go 1.26 or later is needed: https://go.dev/dl" >&2; exit 1; }
	@command -v node >/dev/null && command -v npm >/dev/null || { echo "Node 20 or later with npm is needed: https://nodejs.org (or: apt-get install nodejs npm)" >&2; exit 1; }

# The tests find the browser by name; CHROME names another one. Debian's chromium-headless-shell is one without windows.
INSTALL = apt-get install -y --no-install-recommends
chromium:
	@if [ -n "$$CHROME" ] || command -v chromium-headless-shell >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then may=true; else may=false; fi; \
	if $$may && apt-get update && $(INSTALL) chromium-headless-shell; then exit 0; fi; \
	if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || command -v google-chrome-stable >/dev/null; then exit 0; fi; \
	if $$may && $(INSTALL) chromium; then exit 0; fi; \
	echo "The tests of the page need a Chromium: install the package chromium-headless-shell or chromium, or set CHROME to the path of one." >&2

# FIREFOX names another one. Of WebKit it takes a browser that can be driven, its
# driver, and a screen that nobody sees.
firefox:
	@if [ -n "$$FIREFOX" ] || command -v firefox-esr >/dev/null || command -v firefox >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update && $(INSTALL) firefox-esr; then exit 0; fi; \
	echo "The page is not tested in Firefox: install the package firefox-esr, or set FIREFOX to the path of one." >&2

webkit:
	@if command -v WebKitWebDriver >/dev/null && command -v Xvfb >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update && $(INSTALL) webkit2gtk-driver xvfb; then exit 0; fi; \
	echo "The page is not tested in WebKit: install the packages webkit2gtk-driver and xvfb." >&2

# PyTorch 1.10 or later for the Python that PYTHON names. Debian's python3-torch is
# the one of /usr/bin/python3.
torch:
	@if $(PYTHON) -c 'import torch, torchvision' 2>/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && [ "$(PYTHON)" = /usr/bin/python3 ]; then \
		apt-get update && DEBIAN_FRONTEND=noninteractive $(INSTALL) python3-torch python3-torchvision; \
	else \
		echo "These tests need PyTorch and torchvision for $(PYTHON): install the packages python3-torch and python3-torchvision, or name a Python that has them: make test-torch PYTHON=..." >&2; \
		exit 1; \
	fi
