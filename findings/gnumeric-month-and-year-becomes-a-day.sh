#!/usr/bin/env bash
# Package: gnumeric, 1.12.55 (ssconvert, as Debian 12 has it)
# Behavior: From CSV to CSV, a month and a year such as 06/27 becomes a full date of the present year, and only years above the length of the month stay text.
# Seen: on 28 November 2026, 06/27 became 2026/06/27, 01/31 became 2026/01/31, and 06/32 stayed 06/32
set -eu

command -v ssconvert >/dev/null || { echo 'ssconvert is not installed: apt-get install gnumeric' >&2; exit 2; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

# Nothing is asked of the conversion but to read a file and to write it again.
printf 'card,valid_to\na,06/27\nb,01/31\nc,06/32\n' >in.csv
HOME=$directory ssconvert in.csv out.csv 2>/dev/null
cat out.csv

year=$(date +%Y)
printf 'card,valid_to\na,%s/06/27\nb,%s/01/31\nc,06/32\n' "$year" "$year" >expected.csv
diff expected.csv out.csv
