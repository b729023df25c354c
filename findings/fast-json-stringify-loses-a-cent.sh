#!/usr/bin/env bash
# Package: fast-json-stringify, 7.3.10 (which fastify uses for a response that has a schema)
# Behavior: A value that does not fit its schema is changed into one that does: an integer that is off by a rounding error loses a whole unit, the text false becomes true, and null becomes 0 or an empty text. JSON.stringify writes each as it is.
# Seen: 19.9 * 100 cents came out as 1989, captured "false" as true, a fee of null as 0 and a token of null as ""
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund \
  fast-json-stringify@7.3.10

cat >response.mjs <<'END'
import build from 'fast-json-stringify';
const stringify = build({
  type: 'object',
  properties: { cents: { type: 'integer' }, captured: { type: 'boolean' }, fee: { type: 'number' }, token: { type: 'string' } },
});
const payment = { cents: 19.9 * 100, captured: 'false', fee: null, token: null };
console.log(JSON.stringify(payment));
console.log(stringify(payment));
END
node response.mjs >seen.txt
cat seen.txt

cat >expected.txt <<'END'
{"cents":1989.9999999999998,"captured":"false","fee":null,"token":null}
{"cents":1989,"captured":true,"fee":0,"token":""}
END
diff expected.txt seen.txt
