// Measures how much longer the standalone executable takes to start than the Node inside it: `npm run executables`
// first, then `npm run bench executable`. Runs are interleaved; read the ratios.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { executable } from './support/executable.mjs';
import { inTurns, plainEnvironment, report, rowsFrom } from './support/measure.mjs';

const rounds = Number(process.env.ROUNDS ?? 40);
if (executable === undefined) throw new Error("not built: run 'npm run executables' first");
const { svc, node } = executable;

const home = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const server = spawn(svc, ['sandbox', 'start', '--port', '0', '-o', 'json'], {
  env: plainEnvironment(home),
  stdio: ['ignore', 'pipe', 'ignore'],
});
const { url, management_key: key } = await started(server);
const env = { ...plainEnvironment(home), SVC_BASE_URL: url, SVC_MANAGEMENT_API_KEY: key };

const BARE = 'node -e 0';
const COMMANDS = {
  [BARE]: [node, '-e', '0'],
  'svc --version': [svc, '--version'],
  'svc profile list': [svc, 'profile', 'list'],
  'svc tenant show, one request': [svc, 'tenant', 'show'],
};

try {
  const programs = Object.fromEntries(
    Object.entries(COMMANDS).map(([name, command]) => [name, async () => ({ ms: run(command) })]),
  );
  // The first runs warm the machine's caches.
  await inTurns(2, programs);
  const taken = await inTurns(rounds, programs);
  report('executable', `the executable over its own Node, ${rounds} runs in turns`, rowsFrom(taken, rowsOf));
} finally {
  server.kill();
  rmSync(home, { recursive: true, force: true });
}

function rowsOf(taken) {
  return Object.entries(taken).map(([name, { ms }]) => ({
    name,
    figure: ms / taken[BARE].ms,
    unit: `times, ${ms.toFixed(0)} ms`,
  }));
}

/** @param {string[]} command */
function run([program, ...args]) {
  const start = performance.now();
  const { status, stderr } = spawnSync(program, args, { env, encoding: 'utf8' });
  const ms = performance.now() - start;
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return ms;
}

async function started(child) {
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part) => (text += part));
  while (!text.trimEnd().endsWith('}')) await once(child.stdout, 'data');
  return JSON.parse(text);
}
