#!/usr/bin/env bash
# Package: fastify, 5.12.8
# Behavior: null in a JSON body passes a schema that asks for a number, and the handler gets 0; so it does even where the schema allows null with anyOf, number first: "no limit" becomes a limit of zero. With type ["number", "null"] it stays null.
# Seen: {"limit":null} reached the handler as 0 with type number and with anyOf number and null, and as null with type ["number", "null"]; true became 1, and a body without limit was refused with 400
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund fastify@5.12.8

cat >limits.mjs <<'END'
import Fastify from 'fastify';
const schemas = {
  number: { type: 'number' },
  anyOf: { anyOf: [{ type: 'number' }, { type: 'null' }] },
  list: { type: ['number', 'null'] },
};
for (const [name, limit] of Object.entries(schemas)) {
  const app = Fastify();
  const body = { type: 'object', required: ['limit'], properties: { limit } };
  app.post('/', { schema: { body } }, async (request) => JSON.stringify(request.body.limit));
  const results = [];
  for (const payload of [{ limit: null }, { limit: true }, {}]) {
    const response = await app.inject({ method: 'POST', url: '/', payload });
    results.push(`${JSON.stringify(payload)} ${response.statusCode === 200 ? response.body : response.statusCode}`);
  }
  console.log(`${name}: ${results.join(', ')}`);
}
END
node limits.mjs >seen.txt
cat seen.txt

cat >expected.txt <<'END'
number: {"limit":null} 0, {"limit":true} 1, {} 400
anyOf: {"limit":null} 0, {"limit":true} 1, {} 400
list: {"limit":null} null, {"limit":true} 1, {} 400
END
diff expected.txt seen.txt
