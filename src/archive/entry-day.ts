import { createHash } from 'node:crypto';
import { parseTime } from '../render/time.ts';
import type { Log } from '../schema/log.ts';

/** The folder of entries whose time cannot be read. */
export const UNKNOWN_DAY = 'unknown';

const LONGEST_NAME = 200;
const [EARLIEST, LATEST] = [Date.parse('0000-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')];

/** When an entry was created, in epoch milliseconds; undefined where that cannot be read or its year has not four digits. */
export function entryTime({ created_at }: Pick<Log, 'created_at'>): number | undefined {
  const at = parseTime(created_at);
  return at === undefined || at < EARLIEST || at > LATEST ? undefined : at;
}

/** The UTC day of a time, as it stands in paths. */
export function dayOf(at: number | undefined): string {
  return at === undefined ? UNKNOWN_DAY : new Date(at).toISOString().slice(0, 10);
}

/** The folder of a tenant's entries. An id that makes no good name stands there as its hash. */
export function tenantFolder(tenantId: string): string {
  // Half of a surrogate pair cannot be encoded.
  const name = /\p{Cs}/u.test(tenantId) ? '' : encodeURIComponent(tenantId);
  const isGood = name !== '' && name.length <= LONGEST_NAME;
  return `tenant=${isGood ? name : createHash('sha256').update(tenantId).digest('hex')}`;
}
