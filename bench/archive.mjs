// What `svc logs archive` takes to begin an archive, and that its memory does not grow with it: `npm run bench:archive`.
// ENTRIES: 1,000,000. Beside it, what writing the same lines through gzip at the same level takes alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createGunzip, createGzip } from 'node:zlib';
import { startLogService } from './log-service.mjs';

const entries = Number(process.env.ENTRIES ?? 1_000_000);
const launcher = fileURLToPath(new URL('../bin/svc.js', import.meta.url));
const top = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const HOUR = 3_600_000;
const GOAL_MIB = 20;

try {
  const [small, large] = [await measure(10_000), await measure(entries)];
  tell(small);
  tell(large);
  const growth = (large.peakKb - small.peakKb) / 1024;
  console.log(
    `memory grows by ${growth.toFixed(0)} MiB, goal ${GOAL_MIB}${growth > GOAL_MIB ? ', missed' : ''}`,
  );
  console.log(`the same lines through gzip alone: ${(await gzipAlone(large.place)).toFixed(1)} s`);
} finally {
  rmSync(top, { recursive: true, force: true });
}

function tell({ count, seconds, peakKb, requests }) {
  const rate = Math.round(count / seconds);
  console.log(
    `${count} entries: ${seconds.toFixed(1)} s, ${rate} a second, ${requests} requests, at most ${(peakKb / 1024).toFixed(0)} MiB`,
  );
}

async function measure(count) {
  const untilMs = Date.now() - HOUR / 4;
  const service = await startLogService({ entries: count, spanMs: 23 * HOUR, untilMs });
  const place = join(top, String(count));
  const env = {
    PATH: process.env.PATH,
    HOME: top,
    SVC_BASE_URL: service.url,
    SVC_MANAGEMENT_API_KEY: 'a-management-key',
    SVC_PACING: 'off',
  };
  const started = performance.now();
  const argv = [launcher, 'logs', 'archive', place, '-o', 'json'];
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let [text, peakKb] = ['', 0];
  child.stdout.on('data', (chunk) => (text += chunk));
  const watch = setInterval(() => (peakKb = Math.max(peakKb, residentKb(child.pid))), 50);
  await once(child, 'close');
  clearInterval(watch);
  const seconds = (performance.now() - started) / 1000;
  await service.close();
  if (JSON.parse(text).entries !== count) throw new Error(`not ${count} entries: ${text}`);
  return { count, seconds, peakKb, requests: service.requests, place };
}

function residentKb(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

async function gzipAlone(place) {
  const names = readdirSync(place, { recursive: true }).filter((name) => name.endsWith('.gz'));
  const lines = [];
  for (const name of names) {
    const chunks = Readable.from([readFileSync(join(place, name))]).pipe(createGunzip());
    for await (const chunk of chunks) lines.push(chunk);
  }
  const started = performance.now();
  await pipeline(Readable.from(lines), createGzip(), createWriteStream(join(top, 'alone.gz')));
  return (performance.now() - started) / 1000;
}
