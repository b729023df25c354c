import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { ended, rowOf, succeeded } from '../../support/run-here.ts';
import { openQuickDesk } from './support.ts';

const [, ...ROWS] = exampleRequestFile().trimEnd().split('\n');

it('svc au refresh names the lock of a pod that was killed, without which another pod goes on and pays for nothing twice', async () => {
  const desk = await openQuickDesk({ processingMs: 3_600_000 });
  const refresh = 'au refresh export.csv --cycle 2026-12 --fail-on err=100%';
  const { on: svc } = desk;
  writeFileSync(desk.home.file('export.csv'), exampleRequestFile());
  ended(await svc('pod-1', `${refresh} --no-wait`), 11);
  const lock = desk.home.file('refresh/2026-12/.refresh.lock');
  const owner = { pid: 12, token: '0123456789abcdef', since: '2026-12-01T00:00:00.000Z', place: 'pod-1 pid:[1]' };
  writeFileSync(lock, JSON.stringify(owner));
  ended(await svc('pod-2', refresh), 3, {
    error: {
      message:
        'the refresh of cycle 2026-12 in refresh/2026-12 is locked by process 12 on another machine or container (pod-1) since 2026-12-01T00:00:00.000Z',
      hint: `This machine cannot tell whether it still runs. If no svc runs there any more, delete ${lock} and run the command again. Delete no other file: with the same ledger, the command then goes on and pays for no row twice. Meanwhile svc au status shows what is open.`,
    },
  });
  // The results of the cycle need no lock of its directory.
  succeeded(await svc('pod-3', 'au resume 2026-12 --wait --out results.csv'));
  rmSync(lock);
  expect(rowOf(await svc('pod-4', refresh))).toMatchObject({ status: 'completed', rows: ROWS.length });
  expect(desk.uploads()).toBe(1);
  const read = (name: string): string => readFileSync(desk.home.file(name), 'utf8');
  expect(read('refresh/2026-12/results.csv')).toBe(read('results.csv'));
});
