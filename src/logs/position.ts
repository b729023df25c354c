// The format of a position in the log, in checkpoints and archives.

import * as z from 'zod/mini';
import { isoTime } from '../cli/output/time.ts';
import type { TailPosition } from './entry.ts';

const time = z.iso.datetime();
const integer = z.int();

/** A position in checkpoints and archives. Times are RFC 3339, UTC. `passed` has hashes of entries, not the entries. */
export const positionSchema = z.looseObject({
  settled: time,
  read_to: time,
  newest: z.nullable(time),
  passed: z.array(z.tuple([z.string(), integer, integer.check(z.positive())])),
});

export type StoredPosition = z.infer<typeof positionSchema>;

export function toStored({ settled, readTo, newest, passed }: TailPosition): StoredPosition {
  return {
    settled: isoTime(settled),
    read_to: isoTime(readTo),
    newest: newest === undefined ? null : isoTime(newest),
    passed: passed.map(([key, at, count]) => [key, at, count]),
  };
}

export function fromStored({ settled, read_to: readTo, newest, passed }: StoredPosition): TailPosition {
  return {
    settled: Date.parse(settled),
    readTo: Date.parse(readTo),
    newest: newest === null ? undefined : Date.parse(newest),
    passed,
  };
}
