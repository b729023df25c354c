#!/usr/bin/env bash
# Package: conf, 15.1.0
# Behavior: The first start writes the defaults into the file, so that a new version of the program with another default goes on with the old one, and a default that it adds below an object is not there at all.
# Seen: after a start with the default 50, a start with the default 100 got 50, for defaults and for a default of the schema; of {retry: {times: 1}} and then {retry: {times: 1, pause: 5}} it got no pause
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund conf@15.1.0

cat >start.mjs <<'END'
import Conf from 'conf';
const open = (configName, options) => new Conf({ cwd: process.cwd(), configName, ...options });
open('defaults', { defaults: { pages: 50, retry: { times: 1 } } });
const later = open('defaults', { defaults: { pages: 100, retry: { times: 1, pause: 5 } } });
console.log('defaults', later.get('pages'), JSON.stringify(later.get('retry')));
open('schema', { schema: { pages: { type: 'number', default: 50 } } });
console.log('schema', open('schema', { schema: { pages: { type: 'number', default: 100 } } }).get('pages'));
END
node start.mjs >seen.txt
cat seen.txt

printf 'defaults 50 {"times":1}\nschema 50\n' >expected.txt
diff expected.txt seen.txt
