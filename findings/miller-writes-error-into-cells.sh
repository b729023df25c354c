#!/usr/bin/env bash
# Package: miller, 6.6.0 (mlr, as Debian 12 has it)
# Behavior: gsub of a cell that looks like a number gives the text (error), which put writes into the CSV, and the exit code is 0; a number with leading zeros, and any other text, it changes as asked.
# Seen: without its hyphens, M-17 became M17 and 0042 stayed 0042, while 42, -7, 4.50 and 1e5 each became (error)
set -eu

command -v mlr >/dev/null || { echo 'mlr is not installed: apt-get install miller' >&2; exit 2; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

printf 'token,merchant_id\na,M-17\nb,0042\nc,42\nd,-7\ne,4.50\nf,1e5\n' >in.csv
mlr --icsv --ocsv put '$merchant_id = gsub($merchant_id, "-", "")' in.csv >out.csv && echo 'exit 0' >>out.csv
cat out.csv

printf 'token,merchant_id\na,M17\nb,0042\nc,(error)\nd,(error)\ne,(error)\nf,(error)\nexit 0\n' >expected.csv
diff expected.csv out.csv
