// Runs the quick measurements one after another, and at the end prints all figures that have goals: `npm run bench`.
// Each can also be run alone and larger, as the head of its file explains. A busy machine distorts times most, ratios
// less, and memory least.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { executable } from './support/executable.mjs';
import { lineOf } from './support/measure.mjs';

const QUICK = [
  { script: 'start-up.mjs', env: { ROUNDS: '10' } },
  { script: 'csv-check.mjs', args: ['100', '1'] },
  { script: 'prepare.mjs', args: ['100', '1'] },
  { script: 'files.mjs', args: ['500000', '1'] },
  { script: 'transfer.mjs', args: ['30', '9'] },
  { script: 'archive.mjs', args: ['2000000', '1'] },
];

// The executable is measured only after `npm run executables` has built it.
if (executable !== undefined) QUICK.push({ script: 'executable.mjs', env: { ROUNDS: '10' } });

const rows = [];
for (const { script, args = [], env = {} } of QUICK) {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = fork(path, args, { env: { ...process.env, ...env } });
  child.on('message', (told) => rows.push(...told));
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exitCode = 1;
}
process.stdout.write('\nfigures beside their goals\n');
for (const row of rows) if (row.goal !== undefined) process.stdout.write(`${lineOf(row)}\n`);
