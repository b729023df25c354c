import { type AddressInfo, createServer } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { JobHints } from '../../../src/au/run/job-hints.ts';
import { delivery, post } from '../../events/support.ts';

let hints: JobHints;
let told: string[];

async function open(port = 0): Promise<void> {
  told = [];
  hints = await JobHints.open({ port, clock: Date, onHint: (job, status) => told.push(`${job} ${status}`) });
}

function event(id: string, job: string, word = 'completed'): Record<string, unknown> {
  return delivery(id, { type: `account-updater.job.${word}`, data: { job: { id: job, status: word } } });
}

/** Tells whether a hint about a job comes within this time. */
async function comes(job: string, ms = 100): Promise<boolean> {
  const over = AbortSignal.timeout(ms);
  await hints.next((hinted) => hinted === job, over);
  return !over.aborted;
}

afterEach(() => hints.close());

it('hints about jobs come with the event that a job completed or failed, also from before anyone asked', async () => {
  await open();
  await post(hints.url, event('1', 'a'));
  await post(hints.url, event('2', 'b', 'failed'));
  expect([await comes('a'), await comes('b'), await comes('c')]).toEqual([true, true, false]);
  expect(told).toEqual(['a completed', 'b failed']);
});

it('hints about jobs come once for each event, be it delivered twice', async () => {
  await open();
  for (let time = 0; time < 2; time += 1) await post(hints.url, event('1', 'a'));
  expect([await comes('a'), await comes('a')]).toEqual([true, false]);
  await post(hints.url, event('2', 'a'));
  expect(await comes('a')).toBe(true);
});

it('hints about jobs wake whoever waits for this job, and nobody else', async () => {
  await open();
  const waiting = comes('a', 5_000);
  await post(hints.url, event('1', 'b'));
  await post(hints.url, event('2', 'a', 'created'));
  await post(hints.url, delivery('3', { type: 'tenant.odd', data: 1 }));
  await post(hints.url, event('4', 'a'));
  expect(await waiting).toBe(true);
  expect(await comes('b')).toBe(true);
  expect(await comes('a')).toBe(false);
});

it('hints about jobs cannot be had on a port in use', async () => {
  await open();
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  await expect(JobHints.open({ port, clock: Date })).rejects.toMatchObject({ message: `port ${port} is in use` });
  await new Promise((resolve) => taken.close(resolve));
});
