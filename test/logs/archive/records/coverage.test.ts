import { describe, expect, it } from 'vitest';
import { Coverage } from '../../../../src/logs/archive/records/coverage.ts';
import type { RecordContent } from '../../../../src/logs/archive/records/record.ts';

const DAY = 86_400_000;

function day(number: number): number {
  return Date.UTC(2026, 1, number);
}

function iso(number: number): string {
  return new Date(day(number)).toISOString();
}

function coverageOf(...records: readonly object[]): Coverage {
  const coverage = new Coverage();
  for (const record of records) coverage.add(record as RecordContent);
  return coverage;
}

function read(from: number, to: number): object {
  return { kind: 'segments', read_from: iso(from), read_to: iso(to) };
}

/** Returns the missing parts of days as `from to reason`, with the days of the month. */
function missing(coverage: Coverage, from: number, to: number): string[] {
  const dayOf = (at: number): number => Math.round((at - day(1)) / DAY) + 1;
  const range = { from: day(from), to: day(to) };
  return coverage.missing(range).map((part) => `${dayOf(part.from)} ${dayOf(part.to)} ${part.reason}`);
}

describe('what an archive does not cover', () => {
  const dropped = coverageOf(read(10, 12), { kind: 'gap', from: iso(12), to: iso(13) }, read(13, 20), {
    kind: 'dropped',
    before: iso(11),
  });

  it.each([
    [
      'time before the archive, and what retention dropped',
      5,
      12,
      ['5 10 before the archive', '10 11 dropped by retention'],
    ],
    ['time before the archive alone', 5, 8, ['5 8 before the archive']],
    ['dropped days alone', 10, 12, ['10 11 dropped by retention']],
    ['a gap', 11, 14, ['12 13 gap']],
    ['time after the end', 19, 22, ['20 22 not archived yet']],
    ['nothing', 14, 16, []],
  ])('the missing parts of a range name %s', (_, from, to, expected) => {
    expect(missing(dropped, from, to)).toEqual(expected);
    expect(dropped.of({ from: day(from), to: day(to) }).missing).toEqual(
      dropped.missing({ from: day(from), to: day(to) }),
    );
  });

  it('the missing parts of an archive without drops are before it, gaps and not archived yet', () => {
    expect(missing(coverageOf(read(10, 12)), 5, 14)).toEqual(['5 10 before the archive', '12 14 not archived yet']);
    expect(missing(coverageOf(), 5, 14)).toEqual(['5 14 not archived yet']);
  });
});
