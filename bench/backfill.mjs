// Measures how much faster `svc logs tail --since` is than reading page by page, at 100 ms latency, and then its time
// with pacing at a service that enforces the limits of a management key: `npm run bench:backfill`. ENTRIES and LATENCY
// (ms) in the environment change the defaults.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startLogService } from './log-service.mjs';

const entries = Number(process.env.ENTRIES ?? 30_000);
const latencyMs = Number(process.env.LATENCY ?? 100);
const launcher = fileURLToPath(new URL('../bin/svc.js', import.meta.url));
const walker = fileURLToPath(new URL('plain-walk.mjs', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const HOUR = 3_600_000;
const GOAL = 6;

try {
  const [walked, fast] = [await measure({ svc: false }), await measure({ svc: true })];
  const ratio = walked.seconds / fast.seconds;
  console.log(`${entries} entries, ${latencyMs} ms a request`);
  tell('page by page', walked);
  tell('svc logs tail', fast);
  console.log(`ratio ${ratio.toFixed(1)}, goal ${GOAL}${ratio < GOAL ? ', missed' : ''}`);
  tell('svc logs tail, paced, limits enforced', await measure({ svc: true, enforce: true }));
} finally {
  rmSync(home, { recursive: true, force: true });
}

function tell(name, { seconds, requests, refused }) {
  const share = (entries / requests).toFixed(0);
  const perMinute = ((requests / seconds) * 60).toFixed(0);
  console.log(
    `${name.padEnd(38)} ${seconds.toFixed(1).padStart(6)} s  ${requests} requests, ${share} entries each, ${perMinute} a minute, ${refused} refused`,
  );
}

async function measure({ svc, enforce = false }) {
  const untilMs = Date.now() - HOUR / 4;
  const service = await startLogService({ entries, spanMs: 23 * HOUR, untilMs, latencyMs, enforce });
  const argv = svc
    ? [launcher, 'logs', 'tail', '--since', '23h30m', '--max', String(entries)]
    : [walker, `${service.url}/logs?size=100`];
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    SVC_BASE_URL: service.url,
    SVC_MANAGEMENT_API_KEY: 'a-management-key',
    ...(enforce ? {} : { SVC_PACING: 'off' }),
  };
  const started = performance.now();
  const child = spawn(process.execPath, argv, { cwd: home, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let lines = 0;
  child.stdout.on('data', (chunk) => {
    for (const byte of chunk) if (byte === 10) lines += 1;
  });
  await once(child, 'close');
  const seconds = (performance.now() - started) / 1000;
  await service.close();
  if (lines !== entries) throw new Error(`${lines} of ${entries} entries came`);
  return { seconds, requests: service.requests, refused: service.refused };
}
