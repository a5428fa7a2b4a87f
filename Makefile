.PHONY: help demo build test race lint fuzz bench figures record

help: ## this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: ## the story on a real browser, in a few seconds
	go run ./cmd/node demo

build: ## the binary, ./holdfast
	go build -trimpath -o holdfast ./cmd/node

test: ## every test, on a real Chromium
	.ci/test

race: ## the same with the race detector
	.ci/test -race

lint: ## gofumpt, vet, staticcheck
	@test -z "$$(go tool gofumpt -l .)" || (go tool gofumpt -d . && exit 1)
	go vet ./...
	go tool staticcheck ./...

fuzz: ## every fuzz target for half a minute
	.ci/fuzz 30s

bench: ## benchmarks beside their floors, in the same run
	go test -run '^$$' -bench . -benchmem ./...

figures: ## the figures of the README, measured anew
	@go test -count=1 -run '^TestFigure' -v ./internal/acceptance | sed -nE 's/^.*(figure: .*)/\1/p; /^(ok|FAIL|---)/p'

record: ## record the real browser anew for the fake one's tests
	go test ./chaos/recordings -run TestRecordings -record
