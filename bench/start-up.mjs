// Measures how much longer the tool takes to start than an empty module: `node bench/start-up.mjs`, with ROUNDS=40.
// Runs are interleaved, so that a busy moment of the machine affects all alike; read the ratios, not the milliseconds.
// Output goes to a file, which costs as much as a pipe of a shell; a terminal costs Node 4 ms more.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { median, plainEnvironment, report } from './support/measure.mjs';

const rounds = Number(process.env.ROUNDS ?? 40);
const launcher = fileURLToPath(new URL('../bin/svc.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const plain = plainEnvironment(home);
const [empty, requests] = [join(home, 'empty.mjs'), join(home, 'requests.csv')];
const output = openSync(join(home, 'output'), 'a');

// Arguments to node; `goal` is a ratio to the first row.
const rows = [
  { name: 'an empty .mjs', args: [empty] },
  { name: 'node -e 0', args: ['-e', '0'] },
  { name: 'svc --version', args: [launcher, '--version'], goal: 1.1 },
  { name: 'svc --help', args: [launcher, '--help'], goal: 1.3 },
  { name: 'svc logs --help', args: [launcher, 'logs', '--help'] },
  { name: 'TAB after svc logs --', args: [launcher, '__complete', 'fish', 'logs', '--'], goal: 1.15 },
  { name: 'svc profile list', args: [launcher, 'profile', 'list'], goal: 1.8 },
  { name: 'svc au check, 3 lines', args: [launcher, 'au', 'check', requests], goal: 2.2 },
  { name: 'svc tenant show, one request', args: [launcher, 'tenant', 'show'], goal: 3 },
];

let service;
try {
  writeFileSync(empty, '');
  writeFileSync(
    requests,
    spawnSync(process.execPath, [launcher, 'sandbox', 'cards', '--request'], { env: plain }).stdout,
  );
  service = spawn(process.execPath, [launcher, 'sandbox', 'start', '--port', '0', '-o', 'json'], {
    env: plain,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const env = { ...plain, ...(await settingsOf(service)) };
  const times = measure(env);
  const medians = times.map(median);
  report(
    `start-up over an empty module, median of ${rounds} interleaved runs`,
    rows.map(({ name, goal }, index) => {
      const shown = `${name} (${medians[index].toFixed(0)} ms)`;
      return { name: shown, figure: medians[index] / medians[0], unit: 'times as long', goal };
    }),
  );
} finally {
  if (service?.kill()) await once(service, 'exit');
  rmSync(home, { recursive: true, force: true });
}

/** Waits until the sandbox is ready. Resolves to the variables with which a command reaches it. */
async function settingsOf({ stdout }) {
  let said = '';
  for await (const text of stdout.setEncoding('utf8')) {
    said += text;
    if (said.endsWith('}\n')) break;
  }
  const ready = JSON.parse(said);
  return { SVC_BASE_URL: ready.url, SVC_MANAGEMENT_API_KEY: ready.management_key };
}

/** Returns the milliseconds of each row's runs, without two first runs that warm the machine's caches. */
function measure(env) {
  /** @type {number[][]} */
  const times = rows.map(() => []);
  for (let round = -2; round < rounds; round += 1) {
    for (const [index, { name, args }] of rows.entries()) {
      const start = performance.now();
      const { status } = spawnSync(process.execPath, args, { env, stdio: ['ignore', output, output] });
      if (status !== 0) throw new Error(`${name} ended with ${status}`);
      if (round >= 0) times[index].push(performance.now() - start);
    }
  }
  return times;
}
