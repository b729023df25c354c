// Loaded before measured code of the tool that runs without it: sets the V8 flags that src/process.ts sets, at run time as it does.
// On the command line of Node 20, the flag for young objects changes nothing.
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { setFlagsFromString } = require('node:v8');

const source = readFileSync(join(__dirname, '../../src/process.ts'), 'utf8');
const isNode20 = process.versions.node.startsWith('20.');
for (const [, flag] of source.matchAll(/setFlagsFromString\('(.+)'\)/g))
  if (isNode20 || !flag.includes('wasm')) setFlagsFromString(flag);
