#!/usr/bin/env bash
# Package: miller, 6.6.0 (mlr join, as Debian 12 has it)
# Behavior: Of a column that both files have, a joined row keeps only the cell of the file at the end of the command; that of the file of -f, the left one, is lost without a warning, though the other columns of that file are there. --lp keeps both.
# Seen: results with 11/29 joined to an export with 06/27 gave the new token with 06/27, exit code 0; with --lp result_ the row had both
set -eu

command -v mlr >/dev/null || { echo 'mlr is not installed: apt-get install miller' >&2; exit 2; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

printf 'token,new_token,month,year\na,b,11,29\n' >results.csv
printf 'token,month,year,customer\na,06,27,c-1\n' >export.csv
{
  mlr --csv join -j token -f results.csv export.csv && echo 'exit 0'
  mlr --csv join --lp result_ -j token -f results.csv export.csv
} >seen.txt 2>&1
cat seen.txt

cat >expected.txt <<'END'
token,new_token,month,year,customer
a,b,06,27,c-1
exit 0
token,result_new_token,result_month,result_year,month,year,customer
a,b,11,29,06,27,c-1
END
diff expected.txt seen.txt
