// The main program of a standalone executable: loads the built command line from the files inside the executable,
// each when it is asked for, as bin/svc.js does from the disk. One file of everything would start twice as slowly.
const { getAssetKeys, getRawAsset } = require('node:sea');
const { Script } = require('node:vm');

const assets = new Set(getAssetKeys());
const modules = new Map();

load('./svc.cjs');

function load(name) {
  if (!name.startsWith('./')) return require(name);
  const known = modules.get(name);
  if (known) return known.exports;
  const module = { exports: {} };
  modules.set(name, module);
  const file = name.slice(2);
  const source = Buffer.from(getRawAsset(file)).toString();
  const cachedData = assets.has(`${file}.cache`) ? new Uint8Array(getRawAsset(`${file}.cache`)) : undefined;
  const script = new Script(`(function(exports,require,module){${source}\n})`, { filename: name, cachedData });
  script.runInThisContext()(module.exports, load, module);
  return module.exports;
}
