import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { HOUR_MS } from '../../../schema/durations.ts';
import { parsedJson } from '../../../schema/json-value.ts';
import type { Log } from '../../../schema/log.ts';
import { type Bucket, mergeInto } from '../../count.ts';
import { type BuiltTally, shortHash } from './file.ts';

/** The members that entries are counted by, in addition to the hour. */
export const COUNTED = ['entity_type', 'operation', 'actor_type', 'actor_id'] as const;

type Counted = Pick<Log, (typeof COUNTED)[number]>;

/** A group of entries: those of one hour with the same counted members. */
export type CountedEntries = readonly [log: Log, bucket: Bucket];

/** The most groups in a tally. A segment with more has no tally, and its entries are counted one by one. */
const MAX_GROUPS = 2_000;

/** Counts the entries of a segment in groups by hour and counted members. */
export class TallyBuilder {
  readonly #byActor = new Map<unknown, CountedEntries[]>();
  #groups = 0;

  /** Adds entries of one hour with the same counted members. */
  add({ entity_type = null, operation = null, actor_type = null, actor_id = null }: Counted, bucket: Bucket): void {
    if (this.#groups > MAX_GROUPS) return;
    const groups = this.#byActor.get(actor_id) ?? [];
    if (groups.length === 0) this.#byActor.set(actor_id, groups);
    const hour = Math.floor(bucket.first / HOUR_MS);
    // Entries arrive in order of time, so their group is near the end.
    for (let at = groups.length - 1; at >= 0; at -= 1) {
      const [log, own] = groups[at] ?? [];
      if (log?.operation !== operation || log.entity_type !== entity_type || log.actor_type !== actor_type) continue;
      if (own && Math.floor(own.first / HOUR_MS) === hour) return mergeInto(own, bucket);
    }
    groups.push([{ entity_type, operation, actor_type, actor_id, created_at: '' }, { ...bucket }]);
    this.#groups += 1;
  }

  /** Returns the tally, which does not depend on the order of additions; undefined without entries or with too many groups. */
  built(): BuiltTally | undefined {
    if (this.#groups === 0 || this.#groups > MAX_GROUPS) return undefined;
    const rows = [...this.#byActor.values()].flat().map(([log, { count, first, last }]) => {
      const values = [log.actor_id, log.actor_type, log.entity_type, log.operation];
      return JSON.stringify([values, count, first, last]);
    });
    const text = `[${rows.toSorted().join(',')}]`;
    const bytes = deflateRawSync(text);
    return { info: [bytes.length, shortHash(bytes), shortHash(Buffer.from(text))], bytes };
  }
}

type Row = readonly [values: readonly (string | null)[], count: number, first: number, last: number];

/** Decodes a tally. Returns nothing if the text does not match its hash, or has an unknown form. */
export function entriesOf({ info, bytes }: BuiltTally): CountedEntries[] {
  const text = inflated(bytes);
  if (text === undefined) return [];
  const rows = parsedJson(text.toString());
  if (shortHash(text) !== info[2] || !Array.isArray(rows) || !rows.every(isRow)) return [];
  return rows.map(([[actor_id, actor_type, entity_type, operation], count, first, last]) => [
    { actor_id, actor_type, entity_type, operation, created_at: '' },
    { count, first, last },
  ]);
}

/** The largest accepted tally. svc writes no larger one, and it must not fill the memory. */
const MAX_TALLY_BYTES = 16 * 1024 * 1024;

function inflated(bytes: Uint8Array): Buffer | undefined {
  try {
    return inflateRawSync(bytes, { maxOutputLength: MAX_TALLY_BYTES });
  } catch {
    return undefined;
  }
}

// A check by hand, because a zod schema would double the time. The hash proves that svc wrote the row, maybe a newer version.
function isRow(row: unknown): row is Row {
  const [values, ...counts]: unknown[] = Array.isArray(row) ? row : [];
  const isWhole = Array.isArray(values) && values.length === COUNTED.length && counts.length === 3;
  return isWhole && counts.every(Number.isInteger);
}
