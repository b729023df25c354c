#!/usr/bin/env bash
# Package: @duckdb/node-api, 1.5.6-r.1 (DuckDB 1.5.6)
# Behavior: Tokens that are UUIDs in capitals keep them when they are read from CSV, but from JSON they become the type UUID and come out in small letters: COPY writes tokens that a service which compares text does not know.
# Seen: the token 78560017-6E89-4C22-A56E-8B54751C7ACF of a CSV file stayed, that of an NDJSON file became 78560017-6e89-4c22-a56e-8b54751c7acf, and a token that is no UUID beside it kept both as text
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1

printf 'token\n78560017-6E89-4C22-A56E-8B54751C7ACF\n' >cards.csv
printf '{"token":"78560017-6E89-4C22-A56E-8B54751C7ACF"}\n' >cards.ndjson
printf '{"token":"78560017-6E89-4C22-A56E-8B54751C7ACF"}\n{"token":"TOK_1"}\n' >mixed.ndjson
cat >read.mjs <<'END'
import { DuckDBInstance } from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create()).connect();
for (const file of ['cards.csv', 'cards.ndjson', 'mixed.ndjson']) {
  await connection.run(`COPY (SELECT token FROM '${file}') TO 'out.csv' (HEADER false)`);
  const read = await connection.runAndReadAll(`SELECT content FROM read_text('out.csv')`);
  console.log(file, read.getRowsJson()[0][0].trim().split('\n').join(' '));
}
END
node read.mjs >seen.txt
cat seen.txt

cat >expected.txt <<'END'
cards.csv 78560017-6E89-4C22-A56E-8B54751C7ACF
cards.ndjson 78560017-6e89-4c22-a56e-8b54751c7acf
mixed.ndjson 78560017-6E89-4C22-A56E-8B54751C7ACF TOK_1
END
diff expected.txt seen.txt
