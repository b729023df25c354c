// Measures how much longer the tool takes to start than an empty module: `npm run bench start-up`, with ROUNDS=40.
// Runs are interleaved, so that a busy moment of the machine affects all alike; read the ratios, not the milliseconds.
// The goals are for processor time, of which the measuring itself adds a millisecond to each program. Output goes to
// nothing and messages to a file, which cost as much as a pipe of a shell; a terminal costs Node 4 ms more.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inTurns, plainEnvironment, report, rowsFrom, runNode } from './support/measure.mjs';

const rounds = Number(process.env.ROUNDS ?? 40);
const launcher = fileURLToPath(new URL('../bin/svc.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const plain = plainEnvironment(home);
const [empty, requests] = [join(home, 'empty.mjs'), join(home, 'requests.csv')];

const EMPTY = 'an empty .mjs';
const COMMANDS = {
  [EMPTY]: [empty],
  'node -e 0': ['-e', '0'],
  'svc --version': [launcher, '--version'],
  'svc --help': [launcher, '--help'],
  'svc logs --help': [launcher, 'logs', '--help'],
  'TAB after svc logs --': [launcher, '__complete', 'fish', 'logs', '--'],
  'svc profile list': [launcher, 'profile', 'list'],
  'svc au check, 3 lines': [launcher, 'au', 'check', requests],
  'svc tenant show, one request': [launcher, 'tenant', 'show'],
};

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
  const programs = Object.fromEntries(
    Object.entries(COMMANDS).map(([name, args]) => [name, async () => runNode(args, env)]),
  );
  // The first runs warm the machine's caches.
  await inTurns(2, programs);
  const taken = await inTurns(rounds, programs);
  report('start-up', `processor and wall time over ${EMPTY}, ${rounds} runs in turns`, rowsFrom(taken, rowsOf));
} finally {
  if (service?.kill()) await once(service, 'exit');
  rmSync(home, { recursive: true, force: true });
}

function rowsOf(taken) {
  return Object.entries(taken).flatMap(([name, { ms, busy }]) => [
    { name, figure: busy / taken[EMPTY].busy, unit: 'times' },
    { name: `${name}: wall`, figure: ms / taken[EMPTY].ms, unit: `times, ${ms.toFixed(0)} ms` },
  ]);
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
