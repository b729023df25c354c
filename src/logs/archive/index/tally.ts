import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { parsedJson } from '../../../schema/json-value.ts';
import type { Log } from '../../../schema/log.ts';
import { type Bucket, HOUR_MS, mergeInto } from '../../count.ts';
import { type BuiltTally, shortHash } from './file.ts';

/** The members that entries are counted by, beside the hour. */
export const COUNTED = ['entity_type', 'operation', 'actor_type', 'actor_id'] as const;

type Counted = Pick<Log, (typeof COUNTED)[number]>;

/** Entries of one hour that are alike in all by which entries are counted. */
export type CountedEntries = readonly [log: Log, bucket: Bucket];

/** A segment of more groups has no tally: its entries are counted one by one. */
const MAX_GROUPS = 2_000;

/** Counts the entries of a segment in groups that differ in nothing by which entries are counted. */
export class TallyBuilder {
  readonly #byActor = new Map<unknown, CountedEntries[]>();
  #groups = 0;

  /** Adds entries of one hour that have these values. */
  add({ entity_type = null, operation = null, actor_type = null, actor_id = null }: Counted, bucket: Bucket): void {
    if (this.#groups > MAX_GROUPS) return;
    const groups = this.#byActor.get(actor_id) ?? [];
    if (groups.length === 0) this.#byActor.set(actor_id, groups);
    const hour = Math.floor(bucket.first / HOUR_MS);
    // Entries come in order of time, so the group is near the end.
    for (let at = groups.length - 1; at >= 0; at -= 1) {
      const [log, own] = groups[at] ?? [];
      if (log?.operation !== operation || log.entity_type !== entity_type || log.actor_type !== actor_type) continue;
      if (own && Math.floor(own.first / HOUR_MS) === hour) return mergeInto(own, bucket);
    }
    groups.push([{ entity_type, operation, actor_type, actor_id, created_at: '' }, { ...bucket }]);
    this.#groups += 1;
  }

  /** The tally with all that was added, the same in any order; undefined where that is nothing, or too much. */
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

/** What a tally holds; nothing where that is not what `verify` compares with the entries, or of no form that is known. */
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

/** That of a larger tally was not written by svc, and must not fill the memory. */
const MAX_TALLY_BYTES = 16 * 1024 * 1024;

function inflated(bytes: Uint8Array): Buffer | undefined {
  try {
    return inflateRawSync(bytes, { maxOutputLength: MAX_TALLY_BYTES });
  } catch {
    return undefined;
  }
}

// The hashes up to the record prove that svc wrote it, maybe a newer one; a schema would take half of the time.
function isRow(row: unknown): row is Row {
  const [values, ...counts]: unknown[] = Array.isArray(row) ? row : [];
  const isWhole = Array.isArray(values) && values.length === COUNTED.length && counts.length === 3;
  return isWhole && counts.every(Number.isInteger);
}
