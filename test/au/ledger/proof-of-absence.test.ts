import { describe, expect, it } from 'vitest';
import { proofOfAbsence, provableFrom, provableUntil } from '../../../src/au/ledger/proof-of-absence.ts';
import type { ClaimEntry } from '../../../src/au/ledger/entry.ts';
import type { Client } from '../../../src/client/api/client.ts';
import { type Page, Pages } from '../../../src/client/api/pages.ts';
import type { AccountUpdaterJob, ListedJob } from '../../../src/schema/account-updater.ts';
import { FakeClock } from '../../support/clock.ts';
import { claimBody, WHO } from './entries.ts';

const NOW = '2026-12-01T06:16:00Z';
const CLAIM: ClaimEntry = { ...claimBody('old'), version: 1, previous: null, at: '2026-12-01T05:00:01Z', by: WHO };

type List = (size: number, attempt: number) => readonly Page<ListedJob>[];

function jobAt(id: string, at: string): AccountUpdaterJob {
  return { id, status: 'pending', created_at: at };
}

function at(ms: number): string {
  return new Date(Date.parse(NOW) + ms).toISOString();
}

/** Returns jobs of which the newest is the new one, then one each second. */
function jobs(count: number): AccountUpdaterJob[] {
  const others = Array.from({ length: count - 1 }, (_, index) => jobAt(`job-${index}`, at(-1000 * (index + 1))));
  return [jobAt('new', NOW), ...others];
}

/** Cuts jobs into pages of this size. */
function paged(all: readonly ListedJob[], size: number): Page<ListedJob>[] {
  const count = Math.max(1, Math.ceil(all.length / size));
  return Array.from({ length: count }, (_, index) => ({
    items: all.slice(index * size, (index + 1) * size),
    next: index + 1 < count ? String(index + 1) : undefined,
  }));
}

/** Looks for a proof in what the service lists, and returns it with the sizes of the pages that were requested. */
async function prove(list: List, newer = jobAt('new', NOW), claim = CLAIM) {
  const sizes: number[] = [];
  const clock = new FakeClock();
  const client = {
    clock,
    signal: new AbortController().signal,
    accountUpdater: {
      list({ pageSize = 0 }) {
        sizes.push(pageSize);
        const pages = list(pageSize, sizes.length);
        return new Pages(async (cursor) => pages[Number(cursor ?? 0)] ?? { items: [], next: undefined });
      },
    },
  };
  const proof = await proofOfAbsence(client as unknown as Client, claim, newer);
  return { proof, sizes, waitedMs: clock.now() - new FakeClock().now() };
}

describe('the proof that a job is gone without its file', () => {
  it('the proof that a job is gone is two lists of other page sizes that show the newer job and not this one', async () => {
    const all = [...jobs(250), jobAt('older', '2026-12-01T04:00:00Z')];
    const { proof, sizes, waitedMs } = await prove((size) => paged(all, size));
    expect(proof).toBe(`two lists show job new, created ${NOW}, and not job old`);
    expect([sizes, waitedMs]).toEqual([[100, 99], 0]);
  });

  it.each([97, 98, 99, 100])(
    'the proof that a job is gone is two lists also where it would be between two pages of one, after %i newer jobs',
    async (newer) => {
      const all = [...jobs(newer), jobAt('twin', CLAIM.created_at), jobAt('older', '2026-12-01T04:00:00Z')];
      const { proof, sizes } = await prove((size) => paged(all, size));
      expect([proof, sizes]).toEqual([expect.any(String), [100, 99]]);
    },
  );

  it('R58: a job is not proven gone by two lists in which it would be between the same pages', async () => {
    const [newest, ...others] = jobs(99);
    const rest = [jobAt('twin', CLAIM.created_at), jobAt('older', '2026-12-01T04:00:00Z')];
    // Another job is removed between the two lists, so that the twin is the last job of a page once more.
    const { proof, sizes } = await prove((size) =>
      paged([newest ?? jobAt('new', NOW), ...others.slice(size === 100 ? 0 : 1), ...rest], size),
    );
    expect([proof, sizes]).toEqual([expect.any(String), [100, 99, 83]]);
  });

  it('R58: a job is not proven gone where the list gives whole seconds, and it is the last of a hundred of its second', async () => {
    const twins = Array.from({ length: 120 }, (_, index) => jobAt(`twin-${index}`, '2026-12-01T05:00:01Z'));
    const all = [...jobs(1), ...twins, jobAt('old', '2026-12-01T05:00:01Z')];
    const claim = { ...CLAIM, created_at: '2026-12-01T05:00:01.900Z' };
    const { proof } = await prove((size) => paged(all, size), jobAt('new', NOW), claim);
    expect(proof).toBeUndefined();
  });

  it('R58: a job is not proven gone by lists that show jobs of one second in different orders', async () => {
    const twins = Array.from({ length: 150 }, (_, index) => jobAt(`twin-${index}`, CLAIM.created_at));
    const { proof } = await prove((size) => {
      const from = 100 - size;
      return paged([...jobs(1), ...twins.slice(from), ...twins.slice(0, from)], size);
    });
    expect(proof).toBeUndefined();
  });

  it('R58: a job is proven gone although a hundred others were created in the same second', async () => {
    const twins = Array.from({ length: 150 }, (_, index) => jobAt(`twin-${index}`, CLAIM.created_at));
    const { proof, sizes } = await prove((size) => paged([...jobs(1), ...twins], size));
    expect([proof, sizes]).toEqual([expect.any(String), [100, 99]]);
  });

  it('R58: a job is not proven gone where it could be lost between the same pages of every list', async () => {
    const { proof, sizes } = await prove((size) => [
      { items: [...jobs(size - 1), jobAt('twin', CLAIM.created_at)], next: '1' },
      { items: [], next: undefined },
    ]);
    expect([proof, sizes]).toEqual([undefined, [100, 99, 83, 71]]);
  });

  it('the proof that a job is gone waits up to two minutes until a list shows the newer job', async () => {
    const late = await prove((size, attempt) => paged(attempt < 4 ? jobs(5).slice(1) : jobs(5), size));
    expect(late.proof).toBeDefined();
    expect(late.sizes).toEqual([100, 100, 100, 100, 99]);
    const never = await prove((size) => paged(jobs(5).slice(1), size));
    expect([never.proof, never.waitedMs]).toEqual([undefined, 120_000]);
  });

  it('the proof that a job is gone reads no page older than the job', async () => {
    const pages: string[] = [];
    const old = Array.from({ length: 300 }, (_, index) => jobAt(`past-${index}`, '2026-11-30T00:00:00Z'));
    const { proof } = await prove((size) => {
      const all = paged([...jobs(3), ...old], size);
      return all.map((page, index) => ({
        get items() {
          pages.push(`${size}/${index}`);
          return page.items;
        },
        next: page.next,
      }));
    });
    expect(proof).toBeDefined();
    expect(new Set(pages)).toEqual(new Set(['100/0', '99/0']));
  });

  const listed = jobAt('old', CLAIM.created_at);
  it.each<readonly [string, List]>([
    ['the first list shows the job', (size) => paged(size === 100 ? [...jobs(3), listed] : jobs(3), size)],
    ['the second list shows the job', (size) => paged(size === 99 ? [...jobs(3), listed] : jobs(3), size)],
    ['the second list does not show the newer job', (size) => paged(size === 99 ? jobs(3).slice(1) : jobs(3), size)],
    ['the job is on the last page', (size) => paged([...jobs(200), listed], size)],
    [
      'the job stands among others of the same second',
      (size) => paged([...jobs(3), jobAt('twin', CLAIM.created_at), listed], size),
    ],
    [
      'a page is not full although another follows',
      (size) => [{ items: jobs(3), next: '1' }, ...paged(jobs(150).slice(3), size)],
    ],
    ['a page has more jobs than requested', (size) => [{ items: jobs(size + 1), next: undefined }]],
    ['the list is not newest first', (size) => paged([...jobs(3), jobAt('later', NOW)], size)],
    ['the list is oldest first', (size) => paged(jobs(3).toReversed(), size)],
    ['an item has no id', (size) => paged([...jobs(3), { ...jobAt('x', CLAIM.created_at), id: '' }], size)],
    ['an item has no time', (size) => paged([...jobs(3), { id: 'x', status: 'pending' }], size)],
    ['an item has a time that is none', (size) => paged([...jobs(3), jobAt('x', 'yesterday')], size)],
    ['the list is empty', () => [{ items: [], next: undefined }]],
  ])('R58: a job is not proven gone where %s', async (_, list) => {
    expect((await prove(list)).proof).toBeUndefined();
  });

  it.each<readonly [string, string, Partial<ClaimEntry>]>([
    ['a second before its upload can have ended', '2026-12-01T06:15:00Z', {}],
    ['more than seven days after its creation', '2026-12-08T05:00:01Z', {}],
    ['at no time', 'soon', {}],
    ['after a claim without an end of its address', NOW, { expires_at: null }],
    ['after a claim whose creation has no time', NOW, { created_at: '1 Dec 2026' }],
  ])('R58: a job is not proven gone by one that was created %s, and no list is read', async (_, created, more) => {
    const newer = jobAt('new', created);
    const { proof, sizes } = await prove((size) => paged([newer], size), newer, { ...CLAIM, ...more });
    expect([proof, sizes]).toEqual([undefined, []]);
  });

  it.each(['2026-12-01T06:15:01Z', '2026-12-08T05:00:00Z', '2026-12-01T06:15:01', '2026-12-01T07:15:01+01:00'])(
    'a job is proven gone by one that was created at %s, from the first moment to the last',
    async (created) => {
      const newer = jobAt('new', created);
      expect((await prove((size) => paged([newer], size), newer)).proof).toBeDefined();
    },
  );

  it('a list that the service does not send proves nothing and is an error of its own', async () => {
    const { SvcError } = await import('../../../src/base/errors.ts');
    const failing: List = () => {
      throw new SvcError('network', 'no response');
    };
    await expect(prove(failing)).rejects.toMatchObject({ code: 'network' });
  });
});

it('the time from which a job can be proven gone is a quarter of an hour after its address ends', () => {
  expect(provableFrom({ expires_at: '2026-12-01T06:00:00Z' })).toBe(Date.parse('2026-12-01T06:15:01Z'));
  expect(provableFrom({ expires_at: '2026-12-01T06:00:00' })).toBe(Date.parse('2026-12-01T06:15:01Z'));
  for (const expires of [null, 'soon', '']) expect(provableFrom({ expires_at: expires })).toBeUndefined();
});

it('the absence of a job proves something for a week, in whatever form the ledger has the time of its creation', () => {
  for (const created of ['2026-12-01T05:00:00.000Z', 'Tue, 01 Dec 2026 05:00:00 GMT'])
    expect(provableUntil({ created_at: created })).toBe(Date.parse('2026-12-08T05:00:00.000Z'));
});
