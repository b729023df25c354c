import { expect, it } from 'vitest';
import { claimRow, claimView } from '../../../src/au/jobs/status.ts';
import type { ClaimEntry, Entry } from '../../../src/au/ledger/entry.ts';
import { tableRenderer } from '../../../src/cli/output/table.ts';
import { listText } from '../../cli/output/views.ts';
import { claimBody, WHO } from '../ledger/entries.ts';

const COMMON = { version: 1, previous: null, at: '2026-12-01T05:00:00Z', by: { ...WHO } } as const;

function claimed(job: string): ClaimEntry {
  return { ...COMMON, ...claimBody(job) };
}

function released(job: string, why: 'failed' | 'gone'): Entry {
  return { ...COMMON, kind: 'release', job, why, proof: 'made up' };
}

it('the row of a claim says why its own rows are free and what proved it, and not those of another job', () => {
  const entries = [
    claimed('one'),
    claimed('two'),
    released('one', 'failed'),
    released('two', 'gone'),
    claimed('three'),
  ];
  const rows = ['one', 'two', 'three'].map((job) => claimRow(claimed(job), entries, 'failed'));
  expect(rows.map(({ freed }) => freed)).toEqual(['failed', 'gone', null]);
  expect(rows.map(({ proof }) => proof)).toEqual(['made up', 'made up', null]);
});

it('a claim of an account without a name shows its number, and the name that was claimed', () => {
  const claim = { ...claimed('one'), by: { ...WHO, user: 'uid 65532', claimed: 'ana' } };
  expect(claimRow(claim, [claim], 'failed').by).toBe('uid 65532@runner-7 (claimed: ana)');
});

it('a table of claims has a column for why rows are free only where some are', async () => {
  const entries = [claimed('one'), claimed('two'), released('one', 'failed')];
  const shown = (jobs: readonly string[]) =>
    listText(
      tableRenderer({ view: claimView, width: 200 }),
      jobs.map((job) => claimRow(claimed(job), entries, 'failed')),
    );
  expect(await shown(['one', 'two'])).toMatch(/freed/i);
  expect(await shown(['two'])).not.toMatch(/freed/i);
});
