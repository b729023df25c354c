// What a start of the tool costs over bare Node: `npm run bench`. Runs are interleaved, so that a busy moment of the
// machine hits all alike; read the ratios, not the milliseconds.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';

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
  { name: 'svc --sandbox tenant show', args: [launcher, '--sandbox', 'tenant', 'show'] },
];

const home = mkdtempSync(join(tmpdir(), 'svc-bench-'));
// The extra certificates of NODE_EXTRA_CA_CERTS cost Node 20 tens of milliseconds a start: not ours to measure.
const env = { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: home, NO_COLOR: '1' };
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
process.stdout.write(`Node ${process.versions.node}, median of ${rounds} interleaved runs\n`);
for (const [index, { name, args, goal }] of rows.entries()) {
  const ratio = (medians[index] / medians[0]).toFixed(2);
  const cells = [name.padEnd(38), `${medians[index].toFixed(1)} ms`.padStart(10), `x ${ratio}`.padStart(8)];
  if (goal !== undefined) cells.push(`  goal ${goal}${Number(ratio) > goal ? ', missed' : ''}`);
  if (spawnSync(process.execPath, args, { env }).status !== 0) cells.push('  (failed)');
  process.stdout.write(`${cells.join('')}\n`);
}

/** @param {string[]} args */
function run(args) {
  const start = performance.now();
  spawnSync(process.execPath, args, { env, stdio: 'ignore' });
  return performance.now() - start;
}

/** @param {number[]} values */
function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
}
