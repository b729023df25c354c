// The main program of a standalone executable: loads the built command line from the files inside the executable,
// each when it is asked for, as bin/svc.js does from the disk. One file of everything would start twice as slowly.
const { getAsset } = require('node:sea');
const { compileFunction } = require('node:vm');

const modules = new Map();

load('./svc.cjs');

function load(name) {
  if (!name.startsWith('./')) return require(name);
  const known = modules.get(name);
  if (known) return known.exports;
  const module = { exports: {} };
  modules.set(name, module);
  const source = getAsset(name.slice(2), 'utf8');
  compileFunction(source, ['exports', 'require', 'module'], { filename: name })(module.exports, load, module);
  return module.exports;
}
