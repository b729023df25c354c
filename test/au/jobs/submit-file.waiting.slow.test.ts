import { expect, it } from 'vitest';
import { ended, rowOf } from '../../support/run-here.ts';
import { openQuickDesk } from '../commands/support.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';

const LINE = 'au submit tokens.csv --cycle 2026-12';

/** A file that a machine has just submitted, whose job the service shows as pending for the next minute. */
async function submittedDesk() {
  const desk = await openQuickDesk({ pickupMs: 60_000, processingMs: 3_600_000 });
  const shared = sharedLedger(desk.home.file('ledger'));
  const on = (machine: string, line: string) =>
    desk.svc(line, { ...shared, SVC_STATE_DIR: desk.home.file(machine), SVC_CACHE_DIR: desk.home.file('cache') });
  rowOf(await on('here', LINE));
  return { ...desk, on };
}

it('a job whose file the store confirmed to this machine is waited for while the service still shows it as pending', async () => {
  const { on, uploads } = await submittedDesk();
  expect(rowOf(await on('here', `${LINE} --wait`))).toMatchObject({ status: 'completed' });
  expect(uploads()).toBe(1);
});

it('a job of another machine is waited for once it is processing, and not before', async () => {
  const { on, clock, uploads } = await submittedDesk();
  const began = clock.now();
  ended(await on('other', `${LINE} --wait`), 11);
  expect(clock.now() - began).toBeLessThan(60_000);
  await clock.advance(60_000);
  expect(rowOf(await on('other', `${LINE} --wait`))).toMatchObject({ status: 'completed' });
  expect(uploads()).toBe(1);
});
