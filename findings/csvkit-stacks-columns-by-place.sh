#!/usr/bin/env bash
# Package: csvkit, 1.0.7 (csvstack, as Debian 12 has it)
# Behavior: csvstack of two files that name the same columns in another order writes the cells by place under the names of the first file, without a warning.
# Seen: a year of 27 and a month of 06 in the second file came out as the month 27 and the year 06, and the exit code was 0
set -eu

command -v csvstack >/dev/null || { echo 'csvstack is not installed: apt-get install csvkit' >&2; exit 2; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

printf 'token,expiration_month,expiration_year\na,07,28\n' >first.csv
printf 'token,expiration_year,expiration_month\nb,27,06\n' >second.csv
csvstack first.csv second.csv >out.csv 2>messages.txt && echo 'exit 0' >>out.csv
cat out.csv messages.txt

printf 'token,expiration_month,expiration_year\na,07,28\nb,27,06\nexit 0\n' >expected.csv
diff expected.csv out.csv
diff /dev/null messages.txt
