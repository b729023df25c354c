#!/usr/bin/env bash
# Package: sqlite3, 3.40.1 (as Debian 12 has it)
# Behavior: A column of the type STRING is numeric, because SQLite knows no such type: .import changes ids that look like numbers, without a word. TEXT keeps them.
# Seen: 0042 became 42, 1E5 became 100000, and 12345678901234567890 became 1.23456789012346e+19
set -eu

command -v sqlite3 >/dev/null || { echo 'sqlite3 is not installed: apt-get install sqlite3' >&2; exit 2; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

printf 'merchant\n0042\n1E5\n12345678901234567890\n' >merchants.csv
for type in STRING TEXT; do
  sqlite3 :memory: "CREATE TABLE merchants (id $type)" '.import --csv --skip 1 merchants.csv merchants' 'SELECT id FROM merchants' | paste -sd ' '
done >seen.txt
cat seen.txt

printf '42 100000 1.23456789012346e+19\n0042 1E5 12345678901234567890\n' >expected.txt
diff expected.txt seen.txt
