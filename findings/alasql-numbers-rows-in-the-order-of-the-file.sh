#!/usr/bin/env bash
# Package: alasql, 4.19.1
# Behavior: ROW_NUMBER() OVER (PARTITION BY token ORDER BY day DESC) accepts the order and ignores it, and counts from 1 again wherever the token differs from that of the row before: the newest result of each token is not the row with the number 1, and a token can have several of these.
# Seen: of a in January, March and February, with b between the last two, the rows with number 1 were a in January, b, and a in February; sorted by an inner query first they were a in March and b
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund alasql@4.19.1

cat >newest.mjs <<'END'
import alasql from 'alasql';
const results = ['a 2026-01', 'a 2026-03', 'b 2026-02', 'a 2026-02'].map((row) => ({ token: row[0], day: row.slice(2) }));
for (const from of ['?', '(SELECT * FROM ? ORDER BY token, day DESC)']) {
  const rows = alasql(
    `SELECT token, day FROM (SELECT token, day, ROW_NUMBER() OVER (PARTITION BY token ORDER BY day DESC) AS n FROM ${from}) WHERE n = 1`,
    [results],
  );
  console.log(rows.map(({ token, day }) => `${token} ${day}`).join(', '));
}
END
node newest.mjs >seen.txt
cat seen.txt

printf 'a 2026-01, b 2026-02, a 2026-02\na 2026-03, b 2026-02\n' >expected.txt
diff expected.txt seen.txt
