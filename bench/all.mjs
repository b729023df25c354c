// Runs measurements: `npm run bench` runs the quick ones one after another, and prints one table of figures beside goals.
// `npm run bench <name> [arguments]` runs one alone and larger, with all of its figures, as the head of its file explains.
// With --smallest, one measures next to nothing, which shows only that it works. Programs run in turns, and the best run
// of each is compared with the goal, so that other work on the machine shows in the medians and not in what is missed.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { GOALS } from './support/goals.mjs';
import { executable } from './support/executable.mjs';
import { HEAD, lineOf } from './support/measure.mjs';

/** The arguments and variables of each measurement: its smallest size, and the size for `npm run bench` if it is quick. */
const MEASUREMENTS = {
  'start-up': { quick: { env: { ROUNDS: '10' } }, smallest: { env: { ROUNDS: '1' } } },
  'round-trips': { quick: { args: ['9'] }, smallest: { args: ['1'] } },
  // The executable is measured only after `npm run executables` has built it.
  executable: { quick: executable && { env: { ROUNDS: '10' } }, smallest: { env: { ROUNDS: '1' } } },
  'csv-check': { quick: { args: ['50', '3'] }, smallest: { args: ['1', '1'] } },
  prepare: { quick: { args: ['50', '3'] }, smallest: { args: ['1', '1'] } },
  files: { quick: { args: ['300000', '3'] }, smallest: { args: ['1000', '1'] } },
  transfer: { quick: { args: ['30', '9'] }, smallest: { args: ['2', '1'] } },
  logs: { quick: { env: { COUNTS: '10000,200000', ROUNDS: '3' } }, smallest: { env: { COUNTS: '100,200' } } },
  backfill: { quick: { env: { ENTRIES: '10000', ROUNDS: '1' } }, smallest: { env: { ENTRIES: '300', LATENCY: '1' } } },
  archive: { quick: { args: ['500000', '3'] }, smallest: { args: ['1000', '1'] } },
  follow: { quick: { args: ['150', '300'] }, smallest: { args: ['150', '300'], env: { MINUTES: '3' } } },
  reach: { quick: {}, smallest: {} },
};

const [name, ...args] = process.argv.slice(2);
if (name === undefined) await runQuickOnes();
else if (!(name in MEASUREMENTS)) {
  console.error(`no measurement is named ${name}; there are: ${Object.keys(MEASUREMENTS).join(', ')}`);
  process.exitCode = 2;
} else if (args[0] === '--smallest') await run(name, MEASUREMENTS[name].smallest);
else await run(name, { args });

async function runQuickOnes() {
  process.stdout.write(HEAD);
  for (const [each, { quick }] of Object.entries(MEASUREMENTS)) {
    if (!quick) continue;
    const begun = performance.now();
    const goals = GOALS[each] ?? {};
    const rows = (await run(each, quick, 'ignore')).filter((row) => row.name in goals || each === 'reach');
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    process.stdout.write(`${each}, ${seconds} s${rows.length === 0 ? ': not measured' : ''}\n`);
    for (const row of rows) process.stdout.write(`${lineOf(row, goals[row.name])}\n`);
  }
}

/** Runs a measurement, whose own table goes to `output`. Resolves to the rows of its tables. */
async function run(each, { args: given = [], env = {} }, output = 'inherit') {
  const rows = [];
  const child = fork(fileURLToPath(new URL(`${each}.mjs`, import.meta.url)), given, {
    env: { ...process.env, ...env },
    stdio: ['ignore', output, 'inherit', 'ipc'],
  });
  child.on('message', (told) => rows.push(...told));
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exitCode = 1;
  return rows;
}
