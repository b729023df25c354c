// Measures how much longer the standalone executable takes to start than the Node inside it: `npm run executables`
// first, then `node bench/executable.mjs`. Runs are interleaved; read the ratios.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { executable } from './support/executable.mjs';
import { median, plainEnvironment, report } from './support/measure.mjs';

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

const rows = [
  { name: 'node -e 0', command: [node, '-e', '0'] },
  { name: 'svc --version', command: [svc, '--version'], goal: 1.05 },
  { name: 'svc profile list', command: [svc, 'profile', 'list'], goal: 1.4 },
  { name: 'svc tenant show, one request', command: [svc, 'tenant', 'show'], goal: 2.3 },
];

/** @type {number[][]} */
const times = rows.map(() => []);
try {
  for (let round = -2; round < rounds; round += 1) {
    for (const [index, { command }] of rows.entries()) {
      const ms = run(command);
      if (round >= 0) times[index].push(ms);
    }
  }
} finally {
  server.kill();
  rmSync(home, { recursive: true, force: true });
}

report(
  `the executable over its own Node, median of ${rounds} interleaved runs`,
  rows.map(({ name, goal }, index) => {
    const ms = median(times[index]);
    return { name: `${name} (${ms.toFixed(0)} ms)`, figure: ms / median(times[0]), unit: 'times as long', goal };
  }),
);

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
