#!/usr/bin/env node
// The launcher: the program is src/process.ts, built into dist/cli. No compile cache is switched on here: it writes to
// the disk on every start, and runs bytecode that nobody checks, by default from a directory that others may have prepared.
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const program = join(__dirname, '..', 'dist', 'cli', 'svc.cjs');

if (existsSync(program)) {
  require(program);
} else {
  process.stderr.write('svc: not built yet; run `npm ci` or `npm run build` in its directory\n');
  process.exitCode = 1;
}
