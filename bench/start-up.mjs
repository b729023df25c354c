// What a start of the tool costs over bare Node: `node bench/start-up.mjs`. Runs are interleaved, so that a busy moment of the
// machine hits all alike; read the ratios, not the milliseconds.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { median, plainEnvironment, report } from './support/measure.mjs';

const rounds = Number(process.env.ROUNDS ?? 40);
const launcher = fileURLToPath(new URL('../bin/svc.js', import.meta.url));
const program = fileURLToPath(new URL('../dist/cli/svc.cjs', import.meta.url));

// Arguments to node; `goal` is a ratio to the first row.
const rows = [
  { name: 'node -e 0', args: ['-e', '0'] },
  { name: 'svc --version', args: [launcher, '--version'], goal: 1.2 },
  { name: 'svc --version, without the launcher', args: [program, '--version'] },
  { name: 'svc --help', args: [launcher, '--help'], goal: 1.3 },
  { name: 'svc logs --help', args: [launcher, 'logs', '--help'] },
  { name: 'TAB after svc logs --', args: [launcher, '__complete', 'fish', 'logs', '--'], goal: 1.5 },
  { name: 'svc --sandbox tenant show', args: [launcher, '--sandbox', 'tenant', 'show'], goal: 2.2 },
];

const home = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const env = plainEnvironment(home);
/** @type {number[][]} */
const times = rows.map(() => []);
for (let round = -2; round < rounds; round += 1) {
  for (const [index, { args }] of rows.entries()) {
    const took = run(args);
    if (round >= 0) times[index].push(took);
  }
}
rmSync(home, { recursive: true, force: true });

const medians = times.map(median);
report(
  `start-up over bare Node, median of ${rounds} interleaved runs`,
  rows.map(({ name, args, goal }, index) => {
    if (spawnSync(process.execPath, args, { env }).status !== 0) throw new Error(`${name} failed`);
    const shown = `${name} (${medians[index].toFixed(0)} ms)`;
    return { name: shown, figure: medians[index] / medians[0], unit: 'times as long', goal };
  }),
);

/** @param {string[]} args */
function run(args) {
  const start = performance.now();
  spawnSync(process.execPath, args, { env, stdio: 'ignore' });
  return performance.now() - start;
}
