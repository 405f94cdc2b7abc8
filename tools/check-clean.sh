#!/usr/bin/env bash
# Runs a command and fails when a folder differs from what it was before.
# usage: tools/check-clean.sh FOLDER COMMAND
set -euo pipefail
cd "$(dirname "$0")/.."
before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
cp -R "$1/." "$before/"
bash -c "$2"
if ! diff -r "$before" "$1" >&2; then
  echo "$1 is not what '$2' makes: run it and commit the result" >&2
  exit 1
fi
