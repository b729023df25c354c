// Measures the commands that read many log entries: their time beside the plainest client, and their memory (R32).
//   npm run bench:logs          COUNTS=10000,1000000 ROUNDS=1
// Memory is the high-water mark that Linux keeps for a process. On other systems it is unknown.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startLogService } from './log-service.mjs';

const counts = (process.env.COUNTS ?? '10000,1000000').split(',').map(Number);
const rounds = Number(process.env.ROUNDS ?? 1);
const HOUR = 3_600_000;
const GROWTH_GOAL = 20;
const launcher = fileURLToPath(new URL('../bin/svc.js', import.meta.url));
const walker = fileURLToPath(new URL('plain-walk.mjs', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'svc-bench-'));

const ROWS = [
  { name: 'plain client', argv: ({ url }) => [walker, `${url}/logs?size=100`], isPrinting: true },
  { name: 'svc logs list --all', argv: () => [launcher, 'logs', '--all'], isPrinting: true, goal: 1.3 },
  {
    name: 'svc logs tail --since',
    argv: (_, count) => [launcher, 'logs', 'tail', '--since', '23h30m', '--max', String(count)],
    isPrinting: true,
  },
  { name: 'svc logs archive', argv: () => [launcher, 'logs', 'archive', mkdtempSync(join(home, 'archive-'))] },
];

try {
  const peaks = ROWS.map(() => []);
  for (const count of counts) {
    const times = ROWS.map(() => []);
    const work = ROWS.map(() => []);
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, row] of ROWS.entries()) {
        const { seconds, busy, peak } = await measure(row, count);
        times[index].push(seconds);
        work[index].push(busy);
        peaks[index][counts.indexOf(count)] = peak;
      }
    }
    console.log(`${count} entries, no latency: time, processor time, memory at most`);
    const [plain, plainWork] = [median(times[0]), median(work[0])];
    for (const [index, { name, goal }] of ROWS.entries()) {
      const ratio = median(times[index]) / plain;
      const growth = (peaks[index].at(-1) - peaks[index][0]) / 1024;
      const isLast = count === counts.at(-1) && counts.length > 1;
      const busy = median(work[index]);
      const cells = [name.padEnd(22)];
      cells.push(`${median(times[index]).toFixed(2)} s`.padStart(9), `x ${ratio.toFixed(2)}`.padStart(8));
      cells.push(`${busy.toFixed(2)} s`.padStart(9), `x ${(busy / plainWork).toFixed(2)}`.padStart(8));
      cells.push(`${(peaks[index].at(-1) / 1024).toFixed(0)} MiB`.padStart(9));
      if (goal !== undefined && isLast) cells.push(`  goal ${goal}${ratio > goal ? ', missed' : ''}`);
      if (isLast) cells.push(`  grew by ${growth.toFixed(1)} MiB${growth > GROWTH_GOAL ? ', missed' : ''}`);
      console.log(cells.join(''));
    }
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}

async function measure({ name, argv, isPrinting = false }, count) {
  const service = await startLogService({ entries: count, spanMs: 23 * HOUR, untilMs: Date.now() - HOUR / 4 });
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    SVC_BASE_URL: service.url,
    SVC_MANAGEMENT_API_KEY: 'a-management-key',
    SVC_PACING: 'off',
  };
  const started = performance.now();
  const child = spawn(process.execPath, argv(service, count), { cwd: home, env, stdio: ['ignore', 'pipe', 'ignore'] });
  let usage = { peak: NaN, busy: NaN };
  const watch = setInterval(() => {
    usage = usageOf(child.pid) ?? usage;
  }, 20);
  let lines = 0;
  child.stdout.on('data', (chunk) => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
  });
  const [code] = await once(child, 'close');
  const seconds = (performance.now() - started) / 1000;
  clearInterval(watch);
  await service.close();
  if (code !== 0 || (isPrinting && lines !== count))
    throw new Error(`${name} ended with ${code} after ${lines} of ${count} lines`);
  return { seconds, ...usage };
}

/** Returns a process's peak memory in KiB and its processor seconds; undefined if Linux does not show them now. */
function usageOf(pid) {
  try {
    const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return peak > 0 ? { peak, busy: (Number(fields[11]) + Number(fields[12])) / 100 } : undefined;
  } catch {
    return undefined;
  }
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
