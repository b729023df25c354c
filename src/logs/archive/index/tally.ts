import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as z from 'zod/mini';
import { parsedJson } from '../../../schema/guards.ts';
import type { Log } from '../../../schema/log.ts';
import { type Bucket, HOUR_MS, mergeInto } from '../../count.ts';
import { type BuiltTally, shortHash } from './file.ts';

/** The members that entries are counted by, beside the hour. */
export const COUNTED = ['entity_type', 'operation', 'actor_type', 'actor_id'] as const;

type Counted = Pick<Log, (typeof COUNTED)[number]>;

/** The entries of one hour that have the same values. */
interface Group extends Counted {
  readonly hour: number;
  readonly bucket: Bucket;
}

/** A segment of more groups has no tally: its entries are counted one by one. */
const MAX_GROUPS = 2_000;

/** Counts the entries of a segment in groups that differ in nothing by which entries are counted. */
export class TallyBuilder {
  readonly #byActor = new Map<unknown, Group[]>();
  #groups = 0;

  /** Adds entries of one hour that have these values. */
  add({ entity_type = null, operation = null, actor_type = null, actor_id = null }: Counted, bucket: Bucket): void {
    if (this.#groups > MAX_GROUPS) return;
    const hour = Math.floor(bucket.first / HOUR_MS);
    const groups = this.#byActor.get(actor_id) ?? [];
    if (groups.length === 0) this.#byActor.set(actor_id, groups);
    // Entries come in order of time, so the group is near the end.
    for (let at = groups.length - 1; at >= 0; at -= 1) {
      const group = groups[at];
      if (group?.hour !== hour || group.operation !== operation) continue;
      if (group.entity_type === entity_type && group.actor_type === actor_type) return mergeInto(group.bucket, bucket);
    }
    groups.push({ hour, entity_type, operation, actor_type, actor_id, bucket: { ...bucket } });
    this.#groups += 1;
  }

  /** The tally with all that was added; undefined where that is nothing, or too much. */
  built(): BuiltTally | undefined {
    if (this.#groups === 0 || this.#groups > MAX_GROUPS) return undefined;
    const text = textOf([...this.#byActor.values()].flat());
    const bytes = deflateRawSync(text);
    return { info: [bytes.length, shortHash(bytes), shortHash(Buffer.from(text))], bytes };
  }
}

/** The same text for the same groups, whatever their order: all values, then of each group their places and its counts. */
function textOf(groups: readonly Group[]): string {
  const keyed = groups.map((group) => {
    const values = COUNTED.map((name) => group[name] ?? null);
    return { group, values, key: JSON.stringify([group.hour, values]) };
  });
  const places = new Map<string | null, number>();
  const rows = keyed
    .toSorted((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ group: { hour, bucket }, values }) => {
      for (const value of values) if (!places.has(value)) places.set(value, places.size);
      const begin = hour * HOUR_MS;
      const counts = [bucket.count, hour, bucket.first - begin, bucket.last - begin];
      return values.map((value) => places.get(value)).concat(counts);
    });
  return JSON.stringify([[...places.keys()], rows]);
}

const int = z.int();
const tallySchema = z.tuple([
  z.array(z.nullable(z.string())),
  z.array(z.tuple([int, int, int, int, int, int, int, int])),
]);

/** Entries that are alike in all by which entries are counted, and how many they are. */
export type CountedEntries = readonly [log: Log, bucket: Bucket];

/** What a tally holds; undefined where it is of no form that is known. */
export function entriesOf({ bytes }: BuiltTally): CountedEntries[] | undefined {
  const { data } = tallySchema.safeParse(parsedJson(inflateRawSync(bytes).toString()));
  if (data === undefined) return undefined;
  const [values, rows] = data;
  return rows.map(([entity_type, operation, actor_type, actor_id, count, hour, first, last]) => {
    const start = hour * HOUR_MS;
    const log = {
      entity_type: values[entity_type],
      operation: values[operation],
      actor_type: values[actor_type],
      actor_id: values[actor_id],
      created_at: '',
    };
    return [log, { count, first: start + first, last: start + last }];
  });
}
