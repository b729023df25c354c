import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { beforeAll, expect, it } from 'vitest';
import { etagOf, serveObject, signedAddress, type StoreCall } from '../../support/fault-store.ts';
import { OBJECT, setup } from './download-setup.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const TIMES = process.env['SOAK'] === '1' ? 50 : 8;
const PIECE = 64 * 1024;
const built = temporaryDirectory();
const child = path.join(built, 'child.mjs');

beforeAll(async () => {
  const bundle = await rolldown({
    input: path.join(import.meta.dirname, 'download-child.ts'),
    platform: 'node',
    logLevel: 'silent',
    transform: { define: { SVC_VERSION: '"0.0.0"' } },
  });
  await bundle.write({ file: child, format: 'esm', codeSplitting: false });
  await bundle.close();
});

/** Serves the rest of the object piece by piece, and reports how much it has sent. */
async function serveSlowly(call: StoreCall, onSent: (end: number) => void): Promise<void> {
  const start = Number(/^bytes=(\d+)-$/.exec(call.headers['range'] ?? '')?.[1] ?? 0);
  const length = OBJECT.length - start;
  const range = start === 0 ? '' : `content-range: bytes ${start}-${OBJECT.length - 1}/${OBJECT.length}\r\n`;
  const status = start === 0 ? '200 OK' : '206 Partial Content';
  call.raw(`HTTP/1.1 ${status}\r\netag: ${etagOf(OBJECT)}\r\n${range}content-length: ${length}\r\n\r\n`);
  for (let at = start; at < OBJECT.length && !call.socket.destroyed; at += PIECE) {
    call.raw(OBJECT.subarray(at, at + PIECE));
    onSent(at);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

it(`R44 and R45: a download whose process is killed leaves nothing or the whole, and the next run finishes it (${TIMES} kills)`, async () => {
  let continued = 0;
  let finished = 0;
  for (let time = 0; time < TIMES; time += 1) {
    // The kills range from before the first byte to the sync and the rename after the last one.
    const killAt = (OBJECT.length * time) / (TIMES - 2);
    let running: ChildProcess | undefined;
    const { get, target, from, files } = await setup((call, index) =>
      index === 0
        ? serveSlowly(call, (end) => {
            if (end + PIECE >= killAt) setTimeout(() => running?.kill('SIGKILL'), time % 5);
          })
        : serveObject(call, OBJECT),
    );
    running = spawn(process.execPath, [child, signedAddress(from).href, target], { stdio: 'ignore' });
    await once(running, 'exit');
    const isDone = fs.existsSync(target);
    if (isDone) finished += 1;
    else await get();
    if (from.ledger[1]?.headers['range'] !== undefined) continued += 1;
    expect(fs.readFileSync(target).equals(OBJECT)).toBe(true);
    // A run that is killed after its last step may leave its lock, but nothing else.
    expect(files().filter((name) => !isDone && name !== 'results.csv')).toEqual([]);
  }
  expect(continued).toBeGreaterThan(0);
  expect(finished).toBeLessThan(TIMES);
});

it('R44: a download whose process is killed says so when the disk is full, leaves no result, and continues once there is room', async () => {
  const { get, target, from, files } = await setup((call) => serveObject(call, OBJECT));
  const limited = 'ulimit -f 2000; exec "$0" "$@"';
  const running = spawn('sh', ['-c', limited, process.execPath, child, signedAddress(from).href, target], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const said = running.stderr.setEncoding('utf8').toArray();
  const [code] = await once(running, 'exit');
  expect((await said).join('')).toContain('EFBIG');
  expect(code).toBe(1);
  expect(files()).toEqual(['results.csv.svc-part', 'results.csv.svc-part.json']);
  await get();
  expect(from.ledger.at(-1)?.headers['range']).toBeDefined();
  expect(fs.readFileSync(target).equals(OBJECT)).toBe(true);
});
