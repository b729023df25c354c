import * as z from 'zod';
import { isoTime } from '../../output/time.ts';
import type { TailPosition } from '../checkpoint.ts';
import { wholeSecond } from '../entry.ts';

const time = z.iso.datetime();
const count = z.number().int();

/** Where a tail stands, as a record keeps it: the members of a checkpoint. */
export const positionSchema = z.looseObject({
  settled: time,
  read_to: time,
  newest: time.nullable(),
  passed: z.array(z.tuple([z.string(), count, count.positive()])),
});

/** Where a tail stands, as a record keeps it. Times are RFC 3339, UTC. */
export type StoredPosition = z.infer<typeof positionSchema>;

/** A standing for a record. */
export function toStored({ settled, readTo, newest, passed }: TailPosition): StoredPosition {
  return {
    settled: isoTime(settled),
    read_to: isoTime(readTo),
    newest: newest === undefined ? null : isoTime(newest),
    passed: passed.map(([key, at, times]) => [key, at, times]),
  };
}

/** A standing from a record. */
export function fromStored({ settled, read_to: readTo, newest, passed }: StoredPosition): TailPosition {
  return {
    settled: Date.parse(settled),
    readTo: Date.parse(readTo),
    newest: newest === null ? undefined : Date.parse(newest),
    passed,
  };
}

/** Where a tail stands once it is known that nothing from before a time, in epoch milliseconds, will come any more. */
export function beyond(standing: TailPosition, time: number): TailPosition {
  const from = wholeSecond(time);
  const { settled, readTo, newest, passed } = standing;
  if (settled >= from) return standing;
  return {
    settled: from,
    readTo: Math.max(readTo, from),
    newest,
    passed: passed.filter(([, at]) => at >= from),
  };
}
