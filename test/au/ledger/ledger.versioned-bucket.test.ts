import { expect, it } from 'vitest';
import { claimRows } from '../../../src/au/ledger/claim-rows.ts';
import { Ledger } from '../../../src/au/ledger/ledger.ts';
import type { ObjectStore } from '../../../src/client/store/store.ts';
import { openStore } from '../../../src/client/store/open-store.ts';
import type { AccountUpdaterJob } from '../../../src/schema/account-updater.ts';
import { FakeClock } from '../../support/clock.ts';
import { BucketServer } from '../../support/bucket-server.ts';
import { FakeService } from '../fake-service.ts';
import { claimOf } from './machines.ts';
import { WHO } from './entries.ts';

/** Machines that have used a ledger in a bucket before its versioning was switched on. */
async function openMachines() {
  const bucket = await BucketServer.start();
  const clock = new FakeClock({ start: Date.now() });
  const { accountUpdater } = new FakeService(clock).client(new AbortController().signal, () => undefined);
  const host = { env: bucket.environment, cwd: '/', pid: 1, isAlive: () => true, clock };
  const open = async (name: string, isFirstUse = false, signal = new AbortController().signal): Promise<Ledger> => {
    const objects: ObjectStore = await openStore({ ...host, signal }, 's3://logs/ledger', {
      noun: 'ledger',
      writers: 'machines',
    });
    return Ledger.open(objects, 'ours', { clock, who: { ...WHO, host: name }, isFirstUse });
  };
  await open('first', true);
  const create = (): Promise<AccountUpdaterJob> => accountUpdater.create();
  return { bucket, open, create };
}

const isEntry: (url: string | undefined) => boolean = (url = '') => /\/cycles\/.*\/\d{8}\.json$/.test(url);

async function claim(ledger: Ledger, job: AccountUpdaterJob): Promise<boolean> {
  return claimRows(ledger, await claimOf({ ledger }, job, ['a', 'b']));
}

const REFUSED = { code: 'config', message: expect.stringContaining('while its versioning is on') as string };

it('R96: a bucket whose versioning was switched on after its first use, and that ignores the condition then, lets no machine send rows', async () => {
  const { bucket, open, create } = await openMachines();
  const [one, other] = [await open('one'), await open('other')];
  bucket.isVersioned = true;
  // The first write of an entry arrives once the other machine has ended.
  let release: (() => void) | undefined;
  bucket.hook = (incoming, _outgoing, proceed) => {
    if (incoming.method === 'PUT' && isEntry(incoming.url) && release === undefined) release = proceed;
    else proceed();
  };
  const first = claim(one, await create());
  await expect.poll(() => release).toBeDefined();
  await expect(claim(other, await create())).rejects.toMatchObject(REFUSED);
  release?.();
  await expect(first).rejects.toMatchObject(REFUSED);
});

it('R96: a machine that was killed between its claim and the proof of the condition does not send its rows later', async () => {
  const { bucket, open, create } = await openMachines();
  bucket.isVersioned = true;
  const job = await create();
  const killed = new AbortController();
  let writes = 0;
  bucket.hook = (incoming, _outgoing, proceed) => {
    if (incoming.method === 'PUT' && isEntry(incoming.url) && (writes += 1) === 2) killed.abort();
    else proceed();
  };
  await expect(claim(await open('one', false, killed.signal), job)).rejects.toThrow('aborted');
  bucket.hook = (_incoming, _outgoing, proceed) => proceed();
  await expect(claim(await open('one'), job)).rejects.toMatchObject(REFUSED);
  bucket.isVersioned = false;
  expect(await claim(await open('one'), job)).toBe(false);
});
