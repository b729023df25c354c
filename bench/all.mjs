// Runs measurements: `npm run bench` runs the quick ones one after another, and at the end prints the table of goals.
// `npm run bench <name> [arguments]` runs one alone and larger, as the head of its file explains. With --smallest, one
// measures next to nothing, which shows only that it works. A busy machine distorts wall times most, ratios and processor
// times less, and memory least.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { GOALS } from './support/goals.mjs';
import { executable } from './support/executable.mjs';
import { lineOf } from './support/measure.mjs';

/** The arguments and variables of each measurement: its smallest size, and the size for `npm run bench` if it is quick. */
const MEASUREMENTS = {
  'start-up': { quick: { env: { ROUNDS: '10' } }, smallest: { env: { ROUNDS: '1' } } },
  'round-trips': { quick: { args: ['9'] }, smallest: { args: ['1'] } },
  // The executable is measured only after `npm run executables` has built it.
  executable: { quick: executable && { env: { ROUNDS: '10' } }, smallest: { env: { ROUNDS: '1' } } },
  'csv-check': { quick: { args: ['50', '3'] }, smallest: { args: ['1', '1'] } },
  prepare: { quick: { args: ['50', '3'] }, smallest: { args: ['1', '1'] } },
  files: { quick: { args: ['500000', '3'] }, smallest: { args: ['1000', '1'] } },
  transfer: { quick: { args: ['30', '9'] }, smallest: { args: ['2', '1'] } },
  logs: { quick: { env: { COUNTS: '10000,200000', ROUNDS: '3' } }, smallest: { env: { COUNTS: '100,200' } } },
  backfill: { quick: { env: { ENTRIES: '10000', ROUNDS: '3' } }, smallest: { env: { ENTRIES: '300', LATENCY: '1' } } },
  archive: { quick: { args: ['2000000', '3'] }, smallest: { args: ['1000', '1'] } },
  follow: { quick: { args: ['150', '300'] }, smallest: { args: ['150', '300'] } },
  reach: { quick: {}, smallest: {} },
  records: { smallest: { args: ['2', '1'] } },
};

const [name, ...args] = process.argv.slice(2);
if (name === undefined) await runQuickOnes();
else if (!(name in MEASUREMENTS)) {
  console.error(`no measurement is named ${name}; there are: ${Object.keys(MEASUREMENTS).join(', ')}`);
  process.exitCode = 2;
} else if (args[0] === '--smallest') await run(name, MEASUREMENTS[name].smallest);
else await run(name, { args });

async function runQuickOnes() {
  const taken = {};
  for (const [each, { quick }] of Object.entries(MEASUREMENTS)) if (quick) taken[each] = await run(each, quick);
  process.stdout.write('\nfigures beside their goals\n');
  for (const [each, goals] of Object.entries(GOALS)) {
    const rows = (taken[each] ?? []).filter((row) => row.name in goals);
    process.stdout.write(`${each}${rows.length === 0 ? ': not measured' : ''}\n`);
    for (const row of rows) process.stdout.write(`${lineOf(row, goals[row.name])}\n`);
  }
}

/** Runs a measurement. Resolves to the rows of its tables. */
async function run(each, { args: given = [], env = {} }) {
  const rows = [];
  const child = fork(fileURLToPath(new URL(`${each}.mjs`, import.meta.url)), given, {
    env: { ...process.env, ...env },
  });
  child.on('message', (told) => rows.push(...told));
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exitCode = 1;
  return rows;
}
