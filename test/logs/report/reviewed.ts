import { entriesOf, findArchive, readManifest } from '../../../src/logs/archive/manifest.ts';
import type { ReviewContent } from '../../../src/logs/archive/records/record.ts';
import { ArchiveWriter } from '../../../src/logs/archive/writer.ts';
import { missingOf } from '../../../src/logs/report/review-rules.ts';
import { signReview } from '../../../src/logs/report/sign-review.ts';
import { FakeClock } from '../../support/clock.ts';
import { buildArchive, TENANT } from '../archive/build.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 2, 1);
export const END = START + 4 * DAY;
/** The numbers of the records of the three reviews. The last one is the newest record. */
export const [FIRST, SECOND, NEWEST] = [4, 5, 7] as const;

function entries(from: number, count: number) {
  return Array.from({ length: count }, (_, index) => ({
    tenant_id: TENANT,
    operation: 'delete',
    created_at: new Date(from + index * 1000).toISOString(),
  }));
}

/** An archive of four days with a gap: two reviews, a commit, and a third review as the newest record. */
export async function reviewedArchive(more = 0) {
  const { top, store } = await buildArchive(START, [
    { to: START + DAY, entries: entries(START, 1 + more) },
    { to: START + 2 * DAY, entries: entries(START + DAY, 2) },
    { to: START + 2 * DAY + 1000, gap: true },
  ]);
  return store.lock(async () => {
    const sign = async (day: string, by: string, note: string, of = 'day') => {
      const days = { from: day, to: day };
      const manifest = await readManifest(store);
      const review: ReviewContent = {
        of,
        ...days,
        entries: entriesOf(manifest, days),
        missing: missingOf(manifest.coverage, days),
        findings: { deletions: 2, new_actors: null },
        sha256: '1'.repeat(64),
        page_sha256: '2'.repeat(64),
        record: manifest.last.record.sequence,
        record_sha256: manifest.last.sha256,
        by,
        account: 'ana@bastion',
        note,
      };
      const at = new FakeClock({ start: END + DAY });
      return signReview(store, review, { clock: at, signal: new AbortController().signal });
    };
    await sign('2026-03-02', 'Ana', 'SEC-41');
    await sign('2026-03-01', 'Ana', 'SEC-42', 'access');
    const found = await findArchive(store);
    const writer = await ArchiveWriter.open(store, found!.last, {
      tenantId: TENANT,
      now: () => END,
      machineAhead: () => -5_000,
    });
    await writer.add(entries(START + 2 * DAY + 2000, 3));
    await writer.commit({ settled: END, readTo: END, newest: undefined, passed: [] });
    const { hash = '' } = await sign('2026-03-03', 'Bo', 'SEC-43');
    return { top, hash };
  });
}
