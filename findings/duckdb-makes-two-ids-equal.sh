#!/usr/bin/env bash
# Package: @duckdb/node-api, 1.5.6-r.1 (DuckDB 1.5.6)
# Behavior: A CSV column of ids with 20 digits is read as DOUBLE, although DuckDB has integers of 128 bits and keeps ids with leading zeros as text: ids that differ become equal, and COPY writes the rounded ones.
# Seen: 12345678901234567890 and 12345678901234567891 both came out as 1.2345678901234567e+19 and counted as 1 id; ids of 19 digits, and of 20 with leading zeros, came out unchanged
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1

printf 'id,status\n12345678901234567890,updated\n12345678901234567891,closed\n' >20-digits.csv
printf 'id,status\n1234567890123456789,updated\n1234567890123456790,closed\n' >19-digits.csv
printf 'id,status\n00000000000000000012,updated\n00000000000000000042,closed\n' >zeros.csv
cat >copy.mjs <<'END'
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
for (const name of ['20-digits', '19-digits', 'zeros']) {
  const reader = await connection.runAndReadAll(`select any_value(typeof(id)), count(distinct id)::integer from '${name}.csv'`);
  const [[type, count]] = reader.getRows();
  await connection.run(`copy (from '${name}.csv') to 'out.csv' (header)`);
  console.log(`${name}: ${type}, ${count} ids\n${readFileSync('out.csv', 'utf8').trimEnd()}`);
}
END
node copy.mjs >seen.txt
cat seen.txt

cat >expected.txt <<'END'
20-digits: DOUBLE, 1 ids
id,status
1.2345678901234567e+19,updated
1.2345678901234567e+19,closed
19-digits: BIGINT, 2 ids
id,status
1234567890123456789,updated
1234567890123456790,closed
zeros: VARCHAR, 2 ids
id,status
00000000000000000012,updated
00000000000000000042,closed
END
diff expected.txt seen.txt
