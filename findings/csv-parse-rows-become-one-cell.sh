#!/usr/bin/env bash
# Package: csv-parse, 7.0.3, and papaparse, 5.7.1
# Behavior: The first line decides how lines end: when the header ends with CRLF and the rows with LF, a file of one column is read as one row whose cell has all the rows, and neither tells of it; with two columns both report a wrong number of cells.
# Seen: of 3 tokens below such a header, csv-parse and papaparse read 1 record of "a\nb\nc\n"; fast-csv 5.0.8 read 3
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund \
  csv-parse@7.0.3 papaparse@5.7.1 fast-csv@5.0.8

cat >read.mjs <<'END'
import { parse } from 'csv-parse/sync';
import fastCsv from 'fast-csv';
import papaparse from 'papaparse';
const tokens = 'token\r\na\nb\nc\n';
const show = (name, records, problems) => console.log(name, JSON.stringify(records), JSON.stringify(problems));
show('csv-parse', parse(tokens, { columns: true }), []);
// The delimiter is given, so that papaparse need not guess it from a file that has none.
const { data, errors } = papaparse.parse(tokens, { header: true, delimiter: ',' });
show('papaparse', data, errors);
const rows = [];
for await (const row of fastCsv.parseString(tokens, { headers: true })) rows.push(row);
show('fast-csv', rows, []);
// The same with a second column is noticed.
const pairs = 'token,month\r\na,06\nb,07\n';
try {
  show('csv-parse', parse(pairs, { columns: true }), []);
} catch ({ code }) {
  show('csv-parse', [], [code]);
}
show('papaparse', [], papaparse.parse(pairs, { header: true, delimiter: ',' }).errors.map(({ code }) => code));
END
node read.mjs >seen.txt
cat seen.txt

cat >expected.txt <<'END'
csv-parse [{"token":"a\nb\nc\n"}] []
papaparse [{"token":"a\nb\nc\n"}] []
fast-csv [{"token":"a"},{"token":"b"},{"token":"c"}] []
csv-parse [] ["CSV_RECORD_INCONSISTENT_COLUMNS"]
papaparse [] ["TooManyFields"]
END
diff expected.txt seen.txt
