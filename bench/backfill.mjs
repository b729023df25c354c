// Measures how much faster `svc logs tail --since` is than reading page by page, at 100 ms latency, and its time with pacing
// at a service that enforces the limits of a management key: `npm run bench backfill`. ENTRIES, LATENCY (ms) and ROUNDS in
// the environment change the defaults.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startLogService } from './support/log-service.mjs';
import { inTurns, plainEnvironment, report, rowsFrom, runNode } from './support/measure.mjs';

const entries = Number(process.env.ENTRIES ?? 30_000);
const latencyMs = Number(process.env.LATENCY ?? 100);
const rounds = Number(process.env.ROUNDS ?? 1);
const launcher = fileURLToPath(new URL('../bin/svc.js', import.meta.url));
const walker = fileURLToPath(new URL('support/plain-walk.mjs', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const HOUR = 3_600_000;

const walk = ({ url }) => [walker, `${url}/logs?size=100`];
const tail = () => [launcher, 'logs', 'tail', '--since', '23h30m', '--max', String(entries)];

try {
  const taken = await inTurns(rounds, {
    'page by page': () => measure(walk),
    'svc logs tail': () => measure(tail),
    'svc logs tail, paced, limits enforced': () => measure(tail, { enforce: true }),
  });
  report('backfill', `${entries} entries, ${latencyMs} ms a request, ${rounds} runs in turns`, rowsFrom(taken, rowsOf));
} finally {
  rmSync(home, { recursive: true, force: true });
}

function rowsOf(taken) {
  const rows = Object.entries(taken).flatMap(([name, { ms, requests, refused }]) => [
    { name, figure: ms / 1000, unit: 's' },
    { name: `${name}: requests`, figure: requests, unit: `of which ${refused} refused` },
  ]);
  const ratio = taken['page by page'].ms / taken['svc logs tail'].ms;
  rows.push({ name: 'page by page over svc logs tail', figure: ratio, unit: 'times as long' });
  return rows;
}

async function measure(argv, { enforce = false } = {}) {
  const untilMs = Date.now() - HOUR / 4;
  const service = await startLogService({ entries, spanMs: 23 * HOUR, untilMs, latencyMs, enforce });
  const key = { SVC_BASE_URL: service.url, SVC_MANAGEMENT_API_KEY: 'a-management-key' };
  const pacing = enforce ? {} : { SVC_PACING: 'off' };
  try {
    const taken = await runNode(argv(service), { ...plainEnvironment(home), ...key, ...pacing }, { lines: entries });
    return { ...taken, requests: service.requests, refused: service.refused };
  } finally {
    await service.close();
  }
}
