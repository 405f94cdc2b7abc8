#!/usr/bin/env bash
# Runs every fuzz target of the module over a number of inputs, one after the other.
# A number, not a time: at the end of a time Go before 1.27 now and then reports
# its own deadline as a failure of the target (go.dev/issue/75804).
# usage: tools/fuzz.sh [inputs per target]
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-20000}
GO=${GO:-go}
found=0
while IFS=: read -r file target; do
  found=$((found + 1))
  printf '== %s %s\n' "$(dirname "$file")" "$target"
  "$GO" test -tags invariants -run '^$' -fuzz "^$target\$" -fuzztime "${runs}x" -fuzzminimizetime 1000x -parallel 2 "./$(dirname "$file")"
done < <(grep -rHoE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' . | sed -E 's|^\./||; s|:func |:|' | sort)
echo "$found fuzz targets"
