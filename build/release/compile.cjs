// Makes V8's cache of every built file: node --random-seed=1 compile.cjs <dist/cli> <directory>
// Every function is in it, not those that some run needs: which those are depends on timing, and the same files shall
// give the same bytes.
const { readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { setFlagsFromString } = require('node:v8');
const { Script } = require('node:vm');

const [built, directory] = process.argv.slice(2);
for (const file of readdirSync(built).filter((each) => each.endsWith('.cjs'))) {
  const source = readFileSync(join(built, file), 'utf8');
  setFlagsFromString('--no-lazy');
  // As launcher.cjs compiles it.
  const script = new Script(`(function(exports,require,module){${source}\n})`, { filename: `./${file}` });
  // A cache is refused where the flags are others than when it was made.
  setFlagsFromString('--lazy');
  writeFileSync(join(directory, `${file}.cache`), script.createCachedData());
}
