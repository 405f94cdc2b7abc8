#!/usr/bin/env bash
# Runs every fuzz target of the module for a short while, one after the other.
# usage: tools/fuzz.sh [time per target]
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}
GO=${GO:-go}
found=0
while IFS=: read -r file target; do
  found=$((found + 1))
  printf '== %s %s\n' "$(dirname "$file")" "$target"
  "$GO" test -tags invariants -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 2s -parallel 2 "./$(dirname "$file")"
done < <(grep -rHoE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' . | sed -E 's|^\./||; s|:func |:|' | sort)
echo "$found fuzz targets"
