# Everything a contributor or the CI runs. `make` alone lists the targets.
# Tier 1 (`make test`) needs only Go and make.

GO        ?= go
TAGS      ?= invariants
FUZZRUNS  ?= 20000
KILLS     ?= 20
TOOL       = $(GO) tool -modfile=tools/go.mod
BUF        = $(GO) tool -modfile=tools/buf/go.mod buf
# The tests that need more than Go stand behind these tags.
ALLTAGS    = $(TAGS) system peers interop bench karapace kgosuite confluent schemasuite librdkafka
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS    = -s -w -X main.version=$(VERSION)

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/moldau
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/moldau ./cmd/moldau

.PHONY: test
test: ## tier 1: every package, with the invariant checks compiled in
	$(GO) test -tags '$(TAGS)' -timeout 6m ./...

.PHONY: race
race: ## every package under the race detector
	$(GO) test -race -short -tags '$(TAGS)' -timeout 20m ./...

.PHONY: fuzz
fuzz: ## each fuzz target for FUZZRUNS (20000) inputs
	@tools/fuzz.sh '$(FUZZRUNS)'

.PHONY: crash
crash: ## power cuts, faults and kills of tier 1, more of them with more KILLS (20); then system
	MOLDAU_CRASH=long $(GO) test -tags '$(TAGS)' -timeout 15m -count=1 -run 'Crash|Kill|Fault|Power' ./broker/... ./cmd/... ./internal/vfs/...
	$(GO) test -tags '$(TAGS)' -timeout 30m -count=1 -run 'TestPowerCut$$' ./broker/storage -crash.rounds $$((10 * $(KILLS)))
	$(MAKE) --no-print-directory system

# Tier 2 takes about three minutes of it; SYSTEM=. adds the registry.
SYSTEM    ?= ^Test(Kill9|Copy|Lists|Groups|Compacted|RestartWithManyGroups|FullDisk|GatewayKill9)$$

.PHONY: system
system: ## the real binary killed under load KILLS times (20), the history of its clients judged
	KILLS=$(KILLS) $(GO) test -tags '$(TAGS) system' -run '$(SYSTEM)' -timeout 15m -count=1 ./test/system/...

.PHONY: peers
peers: ## the same requests to Apache Kafka and to us (needs java and mvn)
	$(GO) test -tags '$(TAGS) peers' -timeout 15m -count=1 ./test/peers/...

# Decoders are compared on the same values each time; without DECODERS_SEED a run makes others.
.PHONY: interop
interop: ## clients in five languages, buf, decoders beside ours (installs them; needs java, mvn, python3, node, cargo)
	DECODERS_SEED=1 DECODERS_SECONDS=10 $(GO) test -tags '$(TAGS) interop' -timeout 20m -count=1 ./test/interop/... ./test/buf/... ./test/decoders/...

.PHONY: karapace
karapace: ## Karapace's tests of its registry against ours, from the checkout KARAPACE_DIR (needs python3)
	MOLDAU_KARAPACE='$(KARAPACE_DIR)' $(GO) test -tags '$(TAGS) karapace' -timeout 20m -count=1 -v ./test/karapace/...

.PHONY: confluent
confluent: ## the data with which Confluent's registry tests itself, from the checkout CONFLUENT_DIR, against ours
	MOLDAU_CONFLUENT='$(CONFLUENT_DIR)' $(GO) test -tags '$(TAGS) confluent' -timeout 5m -count=1 -v ./test/confluent

.PHONY: kgosuite
kgosuite: ## the integration tests of the client franz-go against ours (minutes)
	$(GO) test -tags '$(TAGS) kgosuite' -timeout 20m -count=1 -v ./test/kgosuite

.PHONY: report-card
report-card: ## run the suites of others that SUITES names and write their rows of docs/compatibility.md
	tools/report-card.sh $(SUITES)

.PHONY: librdkafka
librdkafka: ## the tests of the client librdkafka against ours (fetches and builds them: half an hour; needs npm, cc, java, mvn)
	$(GO) test -tags '$(TAGS) librdkafka' -timeout 60m -count=1 -v ./test/librdkafka

.PHONY: bench
bench: ## Go benchmarks of every package, short
	$(GO) test -run '^$$' -bench . -benchtime 200ms ./...

.PHONY: bench-peers
bench-peers: ## records/s and CPU per record beside Apache Kafka (needs java and mvn); BENCHFLAGS=-short for the ten first rows
	$(GO) test -tags bench -timeout 60m -count=1 -v $(BENCHFLAGS) ./test/bench/...

.PHONY: vet
vet: ## go vet, the code behind every build tag included
	$(GO) vet -tags '$(ALLTAGS)' ./...

.PHONY: lint
lint: ## golangci-lint with .golangci.yml (the first run builds it: minutes)
	$(TOOL) golangci-lint run ./...

.PHONY: fmt
fmt: ## format the tree
	$(TOOL) golangci-lint fmt ./...

.PHONY: vuln
vuln: ## known vulnerabilities that the code can reach (needs the network)
	$(TOOL) govulncheck ./...

.PHONY: generate
generate: ## make gen/ again from proto/
	$(BUF) generate

.PHONY: check-generate
check-generate: ## fail when proto/ is not clean, or gen/ is not what it makes
	$(BUF) lint
	@tools/check-clean.sh gen '$(MAKE) --no-print-directory generate'

.PHONY: docs
docs: ## make the reference pages again from the code
	$(GO) generate ./broker/configdef ./broker/kafka ./test/peers
	$(GO) run ./cmd/moldau generate docs docs

.PHONY: check-docs
check-docs: ## fail when the reference pages are not what the code makes
	@tools/check-clean.sh docs '$(MAKE) --no-print-directory docs'

.PHONY: ci
ci: ## tier 2: what .ci/run runs
	.ci/run

.PHONY: full
full: ## tier 3: tier 2, then longer crashes and fuzzing, and the benchmarks
	.ci/run
	$(MAKE) crash KILLS=200
	$(MAKE) fuzz FUZZRUNS=200000
	$(MAKE) bench-peers
