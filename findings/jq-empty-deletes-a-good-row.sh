#!/usr/bin/env bash
# Package: jq, 1.6 (as Debian 12 has it)
# Behavior: Removing rows of an array with |= empty removes others: each removed row shifts those behind it, so that every second one stays and good rows further on go, with exit code 0. del removes the right ones.
# Seen: of a good row, four rows with errors and a good row, |= empty left the first row and two of the errors, and removed the last good row; del left the two good rows
set -eu

command -v jq >/dev/null || { echo 'jq is not installed: apt-get install jq' >&2; exit 2; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

printf '["OK1","ERR1","ERR2","ERR3","ERR4","OK2"]\n' >rows.json
{
  jq -c '(.[] | select(startswith("ERR"))) |= empty' rows.json
  jq -c 'del(.[] | select(startswith("ERR")))' rows.json
} >seen.txt
cat seen.txt

printf '["OK1","ERR2","ERR4"]\n["OK1","OK2"]\n' >expected.txt
diff expected.txt seen.txt
