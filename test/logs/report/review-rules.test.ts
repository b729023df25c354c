import { describe, expect, it } from 'vitest';
import { Coverage } from '../../../src/logs/archive/records/coverage.ts';
import type { RecordContent } from '../../../src/logs/archive/records/record.ts';
import { missingOf, reviewProblems } from '../../../src/logs/report/review-rules.ts';

const range = (from: number, to: number) => ({
  from: `2026-02-${String(from).padStart(2, '0')}T00:00:00.000Z`,
  to: `2026-02-${String(to).padStart(2, '0')}T00:00:00.000Z`,
});

/** An archive that began on 2 February, and whose first day retention has dropped. */
function droppedCoverage(): Coverage {
  const coverage = new Coverage();
  const { from, to } = range(2, 6);
  coverage.add({ kind: 'segments', read_from: from, read_to: to } as RecordContent);
  coverage.add({ kind: 'gap', ...range(4, 5) } as RecordContent);
  coverage.add({ kind: 'dropped', before: range(3, 4).from } as RecordContent);
  return coverage;
}

const GAP = { ...range(4, 5), reason: 'gap' };

describe('what a review says that the archive lacked', () => {
  it.each([
    [
      'as svc says it',
      [{ ...range(1, 2), reason: 'before the archive' }, { ...range(2, 3), reason: 'dropped by retention' }, GAP],
      true,
    ],
    ['with all of it dropped', [{ ...range(1, 3), reason: 'dropped by retention' }, GAP], false],
    ['without the gap', [{ ...range(1, 3), reason: 'dropped by retention' }], false],
    ['with all of it before the archive', [{ ...range(1, 3), reason: 'before the archive' }, GAP], false],
  ])('the missing time of a signed review is checked: %s', (_, missing, isRight) => {
    const coverage = droppedCoverage();
    const review = { of: 'days', from: '2026-02-01', to: '2026-02-05', missing, findings: {}, entries: 0 };
    const record = { segments: [], position: {}, written_at: range(7, 8).from, review };
    const before = {
      before: { position: { read_to: range(6, 7).from } },
      coverage,
      hashes: [],
      entries: 0,
      earlier: [],
    };
    const problems = reviewProblems(
      record as unknown as Parameters<typeof reviewProblems>[0],
      before as unknown as Parameters<typeof reviewProblems>[1],
    );
    expect(!problems.includes('it does not state what the archive lacked')).toBe(isRight);
    expect(missingOf(coverage, review)).toHaveLength(3);
  });
});
