#!/usr/bin/env bash
# Package: PostgreSQL, 18.7 (as @electric-sql/pglite 0.5.17 carries it)
# Behavior: The intervals 1 month and 30 days are equal, although a date plus each is another day: GROUP BY adds up the plans of both, WHERE for one finds both, and a unique column refuses the second.
# Seen: of a plan of 1 month for 100 and one of 30 days for 7, GROUP BY gave one row with 107, WHERE period = '30 days' found both, and a unique column refused '30 days' with 23505; from 31 January they end on 28 February and 2 March
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund \
  @electric-sql/pglite@0.5.17

cat >plans.mjs <<'END'
import { PGlite } from '@electric-sql/pglite';
const database = new PGlite();
const rows = async (text) => (await database.query(text, [], { rowMode: 'array' })).rows.map((row) => row.join(' ')).join(', ');
await database.exec(`CREATE TABLE plans (name text, period interval, price integer);
  INSERT INTO plans VALUES ('monthly', '1 month', 100), ('days', '30 days', 7);
  CREATE TABLE periods (period interval UNIQUE);
  INSERT INTO periods VALUES ('1 month')`);
console.log('grouped:', await rows('SELECT count(*), sum(price) FROM plans GROUP BY period'));
console.log('found:', await rows("SELECT name FROM plans WHERE period = '30 days' ORDER BY name"));
console.log('ends:', await rows("SELECT name, (date '2026-01-31' + period)::date::text FROM plans ORDER BY name"));
console.log('unique:', await rows("INSERT INTO periods VALUES ('30 days')").catch(({ code }) => code));
await database.close();
END
node plans.mjs >seen.txt
cat seen.txt

cat >expected.txt <<'END'
grouped: 2 107
found: days, monthly
ends: days 2026-03-02, monthly 2026-02-28
unique: 23505
END
diff expected.txt seen.txt
