import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningSandbox } from '../../src/emulator/running-sandbox.ts';
import { Home } from '../support/svc.ts';
import { startSandbox } from '../support/sandbox.ts';

const SOAK = process.env['SOAK'] === '1';
const ENTRIES = SOAK ? 1_000_000 : 20_000;
/** The allowed growth. A short run may grow without limit: it ends before the heap reaches a stable size. */
const MAX_GROWTH_MB = SOAK ? 20 : Infinity;

const home = new Home();
let sandbox: RunningSandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ directory: home.file('sandbox'), logCount: ENTRIES });
});
afterAll(() => sandbox.close());

/** Returns the resident memory of a process, in MB; undefined once it has ended. */
function residentMb(pid: number): number | undefined {
  try {
    const kb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kb === undefined ? undefined : Number(kb) / 1024;
  } catch {
    return undefined;
  }
}

async function countLines(stream: Readable): Promise<number> {
  let lines = 0;
  for await (const chunk of stream) lines += String(chunk).split('\n').length - 1;
  return lines;
}

describe.runIf(process.platform === 'linux')(`the memory of a command over ${ENTRIES} entries`, () => {
  it.each([
    ['logs --all -o jsonl', ENTRIES],
    ['logs tail --since 24h --idle-exit 1s -o jsonl', ENTRIES * 0.9],
    ['logs archive audit --since 24h', 0],
  ] as const)('R32 stays flat: svc %s', { timeout: SOAK ? 1_800_000 : 120_000 }, async (line, least) => {
    const child = home.start(line.split(' '), {
      env: { SVC_BASE_URL: sandbox.url, SVC_MANAGEMENT_API_KEY: 'sandbox-management-key', SVC_PACING: 'off' },
    });
    const samples: number[] = [];
    const timer = setInterval(() => samples.push(residentMb(child.pid ?? 0) ?? 0), 100);
    child.stderr.resume();
    const [lines, code] = await Promise.all([
      countLines(child.stdout),
      new Promise<number | null>((resolve) => void child.on('exit', resolve)),
    ]);
    clearInterval(timer);
    expect(code).toBe(0);
    expect(lines).toBeGreaterThanOrEqual(least);
    const used = samples.filter((mb) => mb > 0);
    // The first third is a warm-up: code is loaded and compiled, and the heap reaches a stable size.
    const warm = Math.max(...used.slice(0, Math.ceil(used.length / 3)));
    expect(Math.max(...used) - warm).toBeLessThan(MAX_GROWTH_MB);
  });
});
