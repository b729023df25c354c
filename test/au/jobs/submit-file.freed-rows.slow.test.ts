import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { IS_SOAK } from '../../support/cases.ts';
import { Chance } from '../../support/chance.ts';
import { ended, succeeded } from '../../support/run-here.ts';
import { type Machine, openMachine } from '../commands/machine.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';
import { JobFaults } from '../job-faults.ts';
import { uploadsTaken } from '../support.ts';

const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');
const HOUR_MS = 3_600_000;

/** A machine whose service lets the jobs in `failed` fail. */
async function openFailing(): Promise<{ readonly machine: Machine; readonly failed: string[] }> {
  const machine = await openMachine();
  const failed: string[] = [];
  machine.fault = Object.assign(new JobFaults(), { failed }).intercept;
  return { machine, failed };
}

function write(machine: Machine, name: string, rows: readonly string[]): void {
  writeFileSync(machine.path(join('work', name)), `${[HEADER, ...rows].join('\n')}\n`);
}

function jobOf({ stdout }: { readonly stdout: string }): string {
  return (JSON.parse(stdout) as { readonly job: string }).job;
}

it.each([
  ['', ''],
  [' --cycle 2026-12', ''],
  ['', ' --cycle 2026-12'],
  [' --cycle 2026-12', ' --cycle 2027-01'],
])(
  'R79: rows of a failed job of a submission%s are not sent again while a later submission%s has them, unless the operator says so',
  async (first, second) => {
    const { machine, failed } = await openFailing();
    write(machine, 'old.csv', ROWS.slice(0, 10));
    write(machine, 'new.csv', ROWS.slice(0, 9));
    const resubmit = `au submit old.csv${first} --wait --out old_results.csv`;
    failed.push(jobOf(succeeded(await machine.svc(`au submit old.csv${first}`))));
    await machine.clock.advance(60_000);
    ended(await machine.svc(resubmit), 10);
    succeeded(await machine.svc(`au submit new.csv${second} --wait --out results.csv`));
    ended(await machine.svc(resubmit), 6, { uploads: 2, error: { shared_rows: 9 } });
    ended(await machine.svc(`${resubmit} --pay-again`), 0, { uploads: 3 });
  },
);

it('R79: rows of one failed job of a cycle are not sent again while a later submission has them, and new rows of the cycle are', async () => {
  const { machine, failed } = await openFailing();
  write(machine, 'one.csv', ROWS.slice(0, 10));
  write(machine, 'two.csv', ROWS.slice(10, 20));
  write(machine, 'more.csv', [...ROWS.slice(0, 10), ...ROWS.slice(20, 30)]);
  succeeded(await machine.svc('au submit one.csv --cycle 2026-12'));
  failed.push(jobOf(succeeded(await machine.svc('au submit two.csv --cycle 2026-12'))));
  await machine.clock.advance(60_000);
  ended(await machine.svc('au submit two.csv --cycle 2026-12 --wait'), 10);
  succeeded(await machine.svc('au submit two.csv --wait'));
  ended(await machine.svc('au submit two.csv --cycle 2026-12'), 6);
  ended(await machine.svc('au submit more.csv --cycle 2026-12'), 0, { uploads: 4 });
});

it.each(Array.from({ length: IS_SOAK ? 400 : 15 }, (_, seed) => seed + 1))(
  'R79: files that share rows are paid for once while jobs fail at random, in the history of seed %i',
  async (seed) => {
    const chance = new Chance(seed);
    const { machine, failed } = await openFailing();
    const env = sharedLedger(machine.path('ledger'));
    write(machine, 'a.csv', ROWS.slice(0, 10));
    write(machine, 'b.csv', ROWS.slice(chance.between(0, 5), 12));
    write(machine, 'c.csv', ROWS.slice(8, 16));
    for (let step = 0; step < 9; step += 1) {
      const file = chance.oneOf(['a.csv', 'b.csv', 'c.csv']);
      const state = { SVC_STATE_DIR: machine.path(chance.oneOf(['state', 'other'])) };
      const wait = chance.oneOf(['', ' --wait --force']);
      const ended = await machine.svc(`au submit ${file}${wait}`, { ...env, ...state });
      // A completed job that fails later is a doubt (9).
      expect([0, 6, 9, 10, 11], ended.stderr).toContain(ended.code);
      const taken = uploadsTaken(machine.path('tenant-1'));
      for (const job of taken) if (taken.indexOf(job) === taken.length - 1 && chance.happens(0.4)) failed.push(job);
      await machine.clock.advance(chance.oneOf([60_000, HOUR_MS]));
      const paid = taken.filter((job) => !failed.includes(job)).flatMap((job) => rowsOf(machine, job));
      expect(paid.length, `${file} was paid for again in step ${step}`).toBe(new Set(paid).size);
    }
  },
);

function rowsOf(machine: Machine, job: string): string[] {
  const text = readFileSync(machine.path(`tenant-1/files/request-${job}.csv`), 'utf8');
  return text.trimEnd().split('\n').slice(1);
}
