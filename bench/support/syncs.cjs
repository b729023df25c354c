// Loaded before a measured program: at its end, writes into the file that SYNCS names how often it waited for the disk.
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

let count = 0;

for (const name of ['fsync', 'fsyncSync', 'fdatasync', 'fdatasyncSync']) fs[name] = counted(fs[name]);
const { open } = fs.promises;
fs.promises.open = async (...args) => {
  const handle = await open(...args);
  for (const name of ['sync', 'datasync']) handle[name] = counted(handle[name].bind(handle));
  return handle;
};
syncBuiltinESMExports();

process.on('exit', () => fs.writeFileSync(process.env.SYNCS, String(count)));

function counted(work) {
  return (...args) => {
    count += 1;
    return work(...args);
  };
}
