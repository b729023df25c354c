import type { DroppedMonth } from './records/record.ts';

/** Sums the counts of dropped months. */
export function sumOfMonths(months: readonly DroppedMonth[]): Record<'segments' | 'entries' | 'bytes', number> {
  const sum = { segments: 0, entries: 0, bytes: 0 };
  for (const { segments, entries, bytes } of months) {
    sum.segments += segments;
    sum.entries += entries;
    sum.bytes += bytes;
  }
  return sum;
}
