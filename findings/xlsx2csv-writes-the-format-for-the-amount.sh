#!/usr/bin/env bash
# Package: xlsx2csv, 0.7.8 (as Debian 12 has it), of a workbook that exceljs 4.4.0 wrote
# Behavior: A number whose format has a quoted word with a d, h, m, s or y in it, such as 0.00 "USD", is taken for a date: the CSV has the text of the format in place of the number, and the exit code is 0.
# Seen: 19.9 in the format 0.00 "USD" became 0.00 "us18", 42 in 0 "cards" became 0 "car10s", while 19.9 in 0.00 "EUR" became 19.90000000
set -eu

command -v xlsx2csv >/dev/null || { echo 'xlsx2csv is not installed: apt-get install xlsx2csv' >&2; exit 2; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund exceljs@4.4.0

cat >write.mjs <<'END'
import ExcelJS from 'exceljs';
const workbook = new ExcelJS.Workbook();
const sheet = workbook.addWorksheet('invoice');
for (const [name, number, format] of [
  ['plain', 19.9, '0.00'],
  ['euro', 19.9, '0.00 "EUR"'],
  ['dollar', 19.9, '0.00 "USD"'],
  ['dollar', 5, '0.00 "USD"'],
  ['krona', 19.9, '0.00 "SEK"'],
  ['count', 42, '0 "cards"'],
])
  sheet.addRow([name, number]).getCell(2).numFmt = format;
await workbook.xlsx.writeFile('invoice.xlsx');
END
node write.mjs
xlsx2csv invoice.xlsx >out.csv && echo 'exit 0' >>out.csv
cat out.csv

cat >expected.csv <<'END'
plain,19.90
euro,19.90000000
dollar,"0.00 ""us18"""
dollar,"0.00 ""us04"""
krona,"0.00 ""sek"""
count,"0 ""car10s"""
exit 0
END
diff expected.csv out.csv
