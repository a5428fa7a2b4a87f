.PHONY: help demo build release test quick race lint fuzz bench bench-check bench-scale bench-docs bench-needs microbench chaos chaos-cluster soak figures cluster-figures record dialog-matrix deploy-check image-check compat drops compare compare-docs

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: ## the story on a real browser, in a few seconds
	go run ./cmd/node demo

BINARY ?= holdfast
build: ## the binary, ./holdfast
	go build -trimpath -ldflags=-w -o $(BINARY) ./cmd/node # without DWARF, a quarter of it all; stack traces and symbols stay

VERSION ?= $(shell git describe --tags --always --dirty)
release: ## archives for every platform with checksums, into bin/release: make release VERSION=v1.0.0
	.ci/release '$(VERSION)' $(PLATFORMS)

test: ## every test, on a real Chromium
	.ci/test

# What starts no browser, and of the simulation the seeds that have failed once.
QUICK = $$(go list ./... | grep -vE '/(acceptance|facts|browser|checkup|chromiumtest|prometheus|demo|ui|hosted|live|recordings|sim|tools|readme)$$|cmd/node')
quick: ## unit tests, a node on the fake browser, a slice of the simulation: two minutes, without Chromium
	go test -count=1 $(QUICK)
	go test -count=1 ./chaos/sim -seeds 2 -run '^(TestSeeds|TestBridgedSeeds)$$'

race: ## make test with the race detector
	.ci/test -race

lint: ## gofumpt, vet, staticcheck
	@test -z "$$(go tool gofumpt -l .)" || (go tool gofumpt -d . && exit 1)
	go vet ./...
	go tool staticcheck ./...

fuzz: ## every fuzz target for half a minute
	.ci/fuzz 30s

SOAK ?= 10m
soak: ## chaos for as long as told: make soak SOAK=1h
	go test -count=1 -timeout=0 ./chaos/sim -run '^TestSoak$$' -soak $(SOAK) -v

# BENCH=roundtrip,intake runs those alone. All of them, and FIGURES=docs/performance.json, put
# their samples where the pages are written from.
BENCH_RUN = go -C internal/bench run .
FIGURES ?= $(if $(BENCH),,docs/performance.json)
bench: bench-needs ## what it costs beside the floor and others, in the same run: make bench BENCH=roundtrip,intake
	$(BENCH_RUN) run -only '$(BENCH)' -json '$(if $(FIGURES),$(abspath $(FIGURES)))'; code=$$?; \
	$(if $(FIGURES),$(BENCH_RUN) docs || code=1;) exit $$code

bench-check: bench-needs ## what has moved since the stored figures; fails where something became worse
	$(BENCH_RUN) check -only '$(BENCH)'

SIZES ?= 10,100,1000,5000,10000
bench-scale: ## cost and latency by the number of tasks, into docs/scale.svg
	$(BENCH_RUN) scale -sizes '$(SIZES)'
	$(BENCH_RUN) docs

bench-docs: ## the stored figures into the pages, anew
	$(BENCH_RUN) docs

bench-needs:
	go run ./cmd/node doctor --fix >/dev/null || true # without a browser the bench says so
	.ci/need node nodejs
	.ci/need npm npm
	cd internal/bench/node && npm ci --silent --no-audit --no-fund

microbench: ## the benchmarks of single packages
	go test -run '^$$' -bench . -benchmem ./...

chaos: ## 300 seeds against a whole node, 200 killed sockets, 30 of a real Chromium's, 20 under 50 tasks of one Chromium; SEED=n for other plans of kills
	go test -race -count=1 -timeout=60m ./chaos/sim -run '^(TestSeeds|TestBridgedSeeds|TestSameSeedSameTrace)$$' -seeds 300 -steps 40 -regressions
	go test -count=1 ./chaos/clustersim -seeds 3000
	go test -race -count=1 -timeout=30m ./chaos/live -run '^TestReal' -v -seed $(or $(SEED),1) -kills 200 -chromium-kills 30 -crowd 50 -crowd-kills 20

chaos-cluster: ## 200 schedules of kills, pauses, ends and losses of the store against three nodes as processes, checked with porcupine; SEED=n for others
	go test -count=1 -timeout=120m ./cmd/node -run '^(TestClusterUnderChaos|TestWhatChaosWouldFind)$$' -v -cluster-seeds $(or $(SEEDS),200) -cluster-seed $(or $(SEED),1)

drops: ## Playwright, Puppeteer, chromedp and rod through 200 steps each while both connections of their task are cut 50 times, and 1,000 races for a dialog
	.ci/clients -run 'TestClientsOutliveDrops|TestDialogsAreAnsweredOnce' -v -timeout 30m -drop-steps 200 -drop-cuts 50 -races 1000

compat: ## Playwright's own tests over CDP, from a checkout of theirs, directly and through a task: make compat PLAYWRIGHT=DIR
	.ci/need node nodejs
	.ci/need npm npm
	cd test/clients/compat && npm ci --silent
	cd test/clients && go run ./compat -playwright '$(abspath $(PLAYWRIGHT))' -grep '$(GREP)' -files '$(FILES)'

# SERVERS=holdfast runs that alone, and stores nothing. TASKS=prompt,confirm puts these in the place of
# the stored ones.
compare: ## the same tasks by holdfast mcp and by other MCP servers: solved, calls, tokens, time, into docs/comparison.md
	.ci/need node nodejs
	.ci/need npm npm
	cd test/clients/programs && npm ci --silent
	go -C test/clients run ./compare run -servers '$(SERVERS)' -tasks '$(TASKS)' -json '$(if $(SERVERS),,$(abspath docs/comparison.json))'
	$(if $(SERVERS),,$(MAKE) compare-docs)

compare-docs: ## the stored comparison into docs/comparison.md, anew
	go -C test/clients run ./compare docs

dialog-matrix: ## every kind of page by every kind of dialog, every way and every policy, as tables; fails where one does
	@tables=$$(mktemp); go test -count=1 -run '^TestDialogMatrix$$' ./internal/acceptance -matrix "$$tables"; status=$$?; \
	cat "$$tables"; rm -f "$$tables"; exit $$status

cluster-figures: ## what a cluster costs a call and a start, on three nodes as processes
	@go test -count=1 -run '^TestFigureCluster$$' -v ./cmd/node -cluster-figures | sed -nE 's/^.*(figure: .*)/\1/p; /^(ok|FAIL|---)/p'

figures: ## the figures of kills and wedges in docs/performance.md, and what the bridge costs a page, measured anew
	@( go test -count=1 -run '^TestFigure' -v ./internal/acceptance; \
	   go test -count=1 -run '^TestFigure' -v -timeout=30m ./chaos/live -figures ) | sed -nE 's/^.*(figure: .*)/\1/p; /^(ok|FAIL|---)/p'

record: ## record the real browser anew for the fake one's tests
	go test ./chaos/recordings -run TestRecordings -record

deploy-check: ## what is in deploy/ holds to the product, to Kubernetes, Compose, Prometheus, Grafana, systemd
	.ci/deploy

image-check: ## the image built and run, on a Debian machine, as root, in some minutes
	deploy/docker/check
