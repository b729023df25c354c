#!/usr/bin/env bash
# Package: fflate, 0.8.3
# Behavior: gunzipSync of a file that gzip -c ... >> made of two parts returns no error and only as many bytes of the first part as the last part is long; its streaming class returns all.
# Seen: of 1000 rows and 3 rows, gzip -d wrote 1003 and gunzipSync 3, which were the first rows of the first part
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund fflate@0.8.3

seq -f 'monday-%06g' 1 1000 | gzip -c >days.gz
seq -f 'friday-%06g' 1 3 | gzip -c >>days.gz

cat >read.mjs <<'END'
import { readFileSync } from 'node:fs';
import { Gunzip, gunzipSync } from 'fflate';
const days = readFileSync('days.gz');
const rows = (bytes) => Buffer.from(bytes).toString().split('\n').slice(0, -1);
const atOnce = rows(gunzipSync(days));
console.log('gunzipSync', atOnce.length, atOnce.at(-1));
const parts = [];
new Gunzip((part) => parts.push(part)).push(days, true);
console.log('Gunzip', rows(Buffer.concat(parts)).length, rows(Buffer.concat(parts)).at(-1));
END
{ echo "gzip $(gzip -dc days.gz | wc -l | tr -d ' ') $(gzip -dc days.gz | tail -n 1)"; node read.mjs; } >seen.txt
cat seen.txt

printf 'gzip 1003 friday-000003\ngunzipSync 3 monday-000003\nGunzip 1003 friday-000003\n' >expected.txt
diff expected.txt seen.txt
