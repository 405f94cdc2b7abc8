#!/usr/bin/env bash
# Runs suites of others against ours and writes how they ended into docs/compatibility.md: one row each, with commit and date.
#   tools/report-card.sh kgo json confluent karapace peers buf librdkafka
# KARAPACE_DIR and CONFLUENT_DIR name the checkouts of those two. A suite that fails keeps its old row and ends the run with 1.
set -uo pipefail
cd "$(dirname "$0")/.."
page=docs/compatibility.md
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0

# row NAME WHAT COMMAND OUTCOME: replaces the row of a suite, which its name in a comment tells.
row() {
  local line dirty=
  [ -z "$(git status --porcelain -- ':!docs')" ] || dirty=-dirty
  line="| <!-- $1 --> $2 | $4 | \`$3\` | $(git describe --always --exclude '*')$dirty, $(date +%F) |"
  NAME="$1" LINE="$line" awk '
    index($0, "| <!-- " ENVIRON["NAME"] " -->") == 1 { print ENVIRON["LINE"]; next } { print }' "$page" >"$page.new" &&
    mv "$page.new" "$page"
}

# suite NAME WHAT COMMAND PICK: runs a suite; PICK reads its output and prints the outcome.
suite() {
  if ! bash -c "$3" >"$log" 2>&1 </dev/null; then
    tail -40 "$log"
    echo "$1: FAILED"
    failed=1
    return
  fi
  local outcome
  outcome=$("$4" <"$log")
  echo "$1: $outcome"
  row "$1" "$2" "$3" "$outcome"
}

last() { grep -oE '[0-9]+ passed.*' | tail -1; }
subtests() { grep -cE '^ +--- PASS' | sed 's/$/ passed/'; }
json() { grep -oE '(draft[0-9-]+): .* [0-9]+ tests, [0-9]+ passed' | sed -E 's/^draft([0-9-]+): .* ([0-9]+) tests, ([0-9]+) passed/\1: \3 of \2/' | paste -sd, | sed 's/,/, /g'; }
agreeing() { grep -oE '[0-9]+ of [0-9]+ judgements agree|[0-9]+ GUIDs compared' | awk '/agree/ { a += $1; n += $3 } /GUIDs/ { g = $1 } END { print a " of " n " judgements agree, " g " GUIDs" }'; }

tagged() { echo "go test -tags 'invariants $1' -timeout 30m -count=1 -v $2"; }
for name in "$@"; do
  case $name in
  kgo) suite kgo "integration tests of franz-go" "make kgosuite" last ;;
  json) suite json "JSON Schema Test Suite, required tests by draft" "$(tagged interop '-run ^TestJSONSchemaSuite$ ./test/interop')" json ;;
  confluent) suite confluent "compatibility data and GUIDs of Confluent's registry" "make confluent CONFLUENT_DIR=${CONFLUENT_DIR:?}" agreeing ;;
  karapace) suite karapace "integration tests of Karapace's registry" "make karapace KARAPACE_DIR=${KARAPACE_DIR:?}" last ;;
  peers) suite peers "the same requests to Apache Kafka 4.4 and to us" "$(tagged peers '-run ^TestSame ./test/peers')" subtests ;;
  buf) suite buf "the buf CLI" "$(tagged interop ./test/buf)" subtests ;;
  librdkafka) suite librdkafka "tests of librdkafka" "make librdkafka" last ;;
  *) echo "no suite $name"; exit 2 ;;
  esac
done
# a checkout's folder is the caller's own
sed -i -E 's/(KARAPACE_DIR|CONFLUENT_DIR)=[^`]*/\1=checkout/' "$page"
exit $failed
