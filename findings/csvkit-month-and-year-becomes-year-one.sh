#!/usr/bin/env bash
# Package: csvkit, 1.0.7 with agate 1.6.3 (in2csv, as Debian 12 has it)
# Behavior: A column of months and years of two digits, such as Jun 27, is written as days in June of the year 1.
# Seen: Jun 27 became 0001-06-27 and Jul 28 became 0001-07-28, while Jun 2027 became 2027-06-01
set -eu

command -v in2csv >/dev/null || { echo 'in2csv is not installed: apt-get install csvkit' >&2; exit 2; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

printf 'card,short,long\na,Jun 27,Jun 2027\nb,Jul 28,Jul 2028\n' >in.csv
in2csv -f csv in.csv >out.csv
cat out.csv

printf 'card,short,long\na,0001-06-27,2027-06-01\nb,0001-07-28,2028-07-01\n' >expected.csv
diff expected.csv out.csv
