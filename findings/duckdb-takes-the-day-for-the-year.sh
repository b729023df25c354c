#!/usr/bin/env bash
# Package: @duckdb/node-api, 1.5.6-r.1 (DuckDB 1.5.6)
# Behavior: A CSV column of days with years of two digits, such as 31.12.27, is read as DATE with the year in front: the last day of December 2027 becomes 27 December 2031. Nothing says that another order fits as well.
# Seen: 31.12.27 and 30.11.28 came out as 2031-12-27 and 2030-11-28; with one day that is no year of that order, 31.12.27 and 30.11.32 came out as 2027-12-31 and 2032-11-30
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1

printf 'token,expiration\ntok_1,31.12.27\ntok_2,30.11.28\n' >cards.csv
printf 'token,expiration\ntok_1,31.12.27\ntok_2,30.11.32\n' >later.csv
cat >read.mjs <<'END'
import { DuckDBInstance } from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create()).connect();
for (const file of ['cards.csv', 'later.csv']) {
  const read = await connection.runAndReadAll(`SELECT expiration FROM '${file}'`);
  console.log(file, read.columnTypes().join(), read.getRowsJson().join(' '));
}
END
node read.mjs >seen.txt
cat seen.txt

printf 'cards.csv DATE 2031-12-27 2030-11-28\nlater.csv DATE 2027-12-31 2032-11-30\n' >expected.txt
diff expected.txt seen.txt
