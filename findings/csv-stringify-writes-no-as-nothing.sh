#!/usr/bin/env bash
# Package: csv-stringify, 6.9.0, beside papaparse 5.7.1 and fast-csv 5.0.8
# Behavior: false is written as an empty cell, as null is, and true as 1; a Date is written as the milliseconds since 1970. Who reads the file cannot tell "no" from "not known".
# Seen: of true, false, null and a Date, csv-stringify wrote 1,,,1780272000000, while papaparse and fast-csv wrote true,false and nothing for null
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund csv-stringify@6.9.0 papaparse@5.7.1 fast-csv@5.0.8

cat >write.mjs <<'END'
import { stringify } from 'csv-stringify/sync';
import { writeToString } from 'fast-csv';
import Papa from 'papaparse';
const row = [true, false, null];
console.log('csv-stringify', stringify([[...row, new Date('2026-06-01T00:00:00Z')]]).trim());
console.log('papaparse', Papa.unparse([row]));
console.log('fast-csv', await writeToString([row]));
END
node write.mjs >seen.txt
cat seen.txt

printf 'csv-stringify 1,,,1780272000000\npapaparse true,false,\nfast-csv true,false,\n' >expected.txt
diff expected.txt seen.txt
