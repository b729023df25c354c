// Measures the commands that read many log entries: their processor time beside the plainest client, and their memory (R32).
// The floor of a command is what the plainest client takes with the checks of that command, measured one at a time.
//   npm run bench logs          COUNTS=10000,1000000 ROUNDS=1
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { startLogService } from './support/log-service.mjs';
import { inTurns, plainEnvironment, report, rowsFrom, runNode } from './support/measure.mjs';

const [few, many] = (process.env.COUNTS ?? '10000,1000000').split(',').map(Number);
const rounds = Number(process.env.ROUNDS ?? 1);
const HOUR = 3_600_000;
const launcher = fileURLToPath(new URL('../bin/svc.js', import.meta.url));
const walker = fileURLToPath(new URL('support/plain-walk.mjs', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const checks = join(home, 'checks.mjs');

const PLAIN = 'the plain client';
const COMMANDS = {
  [PLAIN]: { argv: ({ url }) => [walker, `${url}/logs?size=100`], isPrinting: true },
  'svc logs list --all': { argv: () => [launcher, 'logs', '--all'], isPrinting: true },
  'svc logs tail --since': {
    argv: (_, count) => [launcher, 'logs', 'tail', '--since', '23h30m', '--max', String(count)],
    isPrinting: true,
  },
  'svc logs archive': { argv: () => [launcher, 'logs', 'archive', mkdtempSync(join(home, 'archive-'))] },
};

const ON_PAGES = ['card numbers', 'exact text', 'needed members'];
/** The checks of each command; an archive is also compressed and hashed. */
const CHECKS_OF = {
  'svc logs list --all': ON_PAGES,
  'svc logs tail --since': ON_PAGES,
  'svc logs archive': [...ON_PAGES, 'compression'],
};

try {
  await bundleChecks();
  const programs = Object.entries(COMMANDS).flatMap(([name, command]) => [
    [`${name}: few`, () => measure(command, few)],
    [name, () => measure(command, many)],
  ]);
  const walks = ['none', ...CHECKS_OF['svc logs archive']].map((name) => [
    name,
    () => measure({ argv: ({ url }) => [walker, `${url}/logs?size=100`, checks, name], isPrinting: true }, many),
  ]);
  const taken = await inTurns(rounds, Object.fromEntries([...programs, ...walks]));
  report('logs', `${many} entries beside ${few}, no latency, ${rounds} runs in turns`, rowsFrom(taken, rowsOf));
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** Node 20 runs no TypeScript, so the checks are bundled. */
async function bundleChecks() {
  const input = fileURLToPath(new URL('support/checks.ts', import.meta.url));
  const build = await rolldown({ input, platform: 'node', logLevel: 'silent' });
  await build.write({ file: checks, format: 'esm', codeSplitting: false });
  await build.close();
}

function rowsOf(taken) {
  const growths = Object.keys(COMMANDS).map((name) => taken[name].mb - taken[`${name}: few`].mb);
  const rows = Object.keys(COMMANDS).flatMap((name, index) => [
    { name: `${name}: wall`, figure: taken[name].ms / 1000, unit: 's' },
    { name: `${name}: processor time`, figure: taken[name].busy / 1000, unit: 's' },
    { name: `${name}: memory`, figure: taken[name].mb, unit: 'MB' },
    { name: `${name}: memory beyond that of few entries`, figure: growths[index], unit: 'MB' },
  ]);
  const overPlain = (name) => taken[name].busy / taken[PLAIN].busy;
  const checked = (name) => 1 + Math.max(0, overPlain(name) - overPlain('none'));
  const unit = 'times, processor time';
  const floors = CHECKS_OF['svc logs archive'].map((name) => ({
    name: `${PLAIN} with the check: ${name}`,
    figure: checked(name),
    unit,
  }));
  const over = Object.entries(CHECKS_OF).map(([name, each]) => {
    const floor = each.reduce((sum, check) => sum + checked(check) - 1, 1);
    return {
      name: `${name} over ${PLAIN}`,
      figure: overPlain(name),
      floor,
      unit: `${unit}, floor ${floor.toFixed(2)}`,
    };
  });
  const most = Math.max(...growths.slice(1));
  return [
    ...rows,
    ...floors,
    ...over,
    { name: 'memory beyond that of few entries, at most', figure: most, unit: 'MB' },
  ];
}

async function measure({ argv, isPrinting = false }, count) {
  const service = await startLogService({ entries: count, spanMs: 23 * HOUR, untilMs: Date.now() - HOUR / 4 });
  const key = { SVC_BASE_URL: service.url, SVC_MANAGEMENT_API_KEY: 'a-management-key', SVC_PACING: 'off' };
  try {
    const env = { ...plainEnvironment(home), ...key };
    return await runNode(argv(service, count), env, isPrinting ? { lines: count } : {});
  } finally {
    await service.close();
  }
}
