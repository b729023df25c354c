#!/usr/bin/env bash
# Package: @dsnp/parquetjs, 1.8.8, read again by itself and by hyparquet 1.33.0
# Behavior: A DECIMAL column loses a cent where the amount times 100 lies just below a whole number in binary. One of up to 9 digits is also read wrong: each second amount is 0 and those between move down to later rows, so that half of them are lost. No error is raised.
# Seen: of 19.90, 100.00, 7.25 and 8.20 in DECIMAL(9, 2), it read 19.89, 0, 100 and 0, and hyparquet read 19.89, 100, 7.25 and 8.19 from the same file; in DECIMAL(10, 2) both read the latter
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund @dsnp/parquetjs@1.8.8 hyparquet@1.33.0

cat >payments.mjs <<'END'
import parquetjs from '@dsnp/parquetjs';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
const amountsOf = (rows) => rows.map(({ amount }) => amount).join(' ');
for (const precision of [9, 10]) {
  const schema = new parquetjs.ParquetSchema({ amount: { type: 'DECIMAL', precision, scale: 2 } });
  const writer = await parquetjs.ParquetWriter.openFile(schema, 'payments.parquet');
  for (const amount of [19.9, 100, 7.25, 8.2]) await writer.appendRow({ amount });
  await writer.close();
  const reader = await parquetjs.ParquetReader.openFile('payments.parquet');
  const rows = [];
  for await (const row of reader) rows.push(row);
  await reader.close();
  console.log(precision, 'digits, parquetjs:', amountsOf(rows));
  const file = await asyncBufferFromFile('payments.parquet');
  console.log(precision, 'digits, hyparquet:', amountsOf(await parquetReadObjects({ file })));
}
END
node payments.mjs >seen.txt
cat seen.txt

cat >expected.txt <<'END'
9 digits, parquetjs: 19.89 0 100 0
9 digits, hyparquet: 19.89 100 7.25 8.19
10 digits, parquetjs: 19.89 100 7.25 8.19
10 digits, hyparquet: 19.89 100 7.25 8.19
END
diff expected.txt seen.txt
