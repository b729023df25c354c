// Runs the built command line once and keeps what V8 compiled for that: node train.cjs <dist/cli> <directory> <arguments>
// A standalone executable starts with these caches. Of several runs the largest of a file stays. The same runs give the
// same bytes if hashes begin alike (--random-seed) and nothing compiled is thrown away.
const { existsSync, readFileSync, statSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { setFlagsFromString } = require('node:v8');
const { Script } = require('node:vm');

setFlagsFromString('--no-flush-bytecode');
const [built, directory] = process.argv.splice(2, 2);
const modules = new Map();
process.on('exit', keep);
load.isLasting = true;
load('./svc.cjs');

/** As launcher.cjs loads. */
function load(name) {
  if (!name.startsWith('./')) return require(name);
  const known = modules.get(name);
  if (known) return known.module.exports;
  const module = { exports: {} };
  const source = readFileSync(join(built, name), 'utf8');
  const script = new Script(`(function(exports,require,module){${source}\n})`, { filename: name });
  modules.set(name, { module, script });
  script.runInThisContext()(module.exports, load, module);
  return module.exports;
}

function keep() {
  // A cache is refused where the flags are others than when it was made.
  setFlagsFromString('--flush-bytecode');
  for (const [name, { script }] of modules) {
    const file = join(directory, `${name}.cache`);
    const data = script.createCachedData();
    if (!existsSync(file) || statSync(file).size < data.length) writeFileSync(file, data);
  }
}
