import { hash } from 'node:crypto';
import { isLossy, logText } from '../api/log-entry.ts';
import { parseTime } from '../render/time.ts';
import type { Log } from '../schema/log.ts';

/** A log entry with what the tail needs to know of it. */
export interface Entry {
  readonly log: Log;
  /** Stands for the whole entry: two entries that say the same have the same one. */
  readonly key: string;
  /** When it was created, in epoch milliseconds. */
  readonly at: number;
}

/** An entry whose time cannot be read: it is never old enough to be forgotten, so it is not shown twice. */
export const NO_TIME = Number.MAX_SAFE_INTEGER;

/** Takes note of what an entry is and when it was. */
export function entryOf(log: Log): Entry {
  return { log, key: fingerprint(log), at: parseTime(log.created_at) ?? NO_TIME };
}

/**
 * 132 bits of SHA-256 over the entry with its members in one order, whichever order the service writes them in; over
 * its text where the members do not say all of it. Checkpoints and archives hold these.
 */
function fingerprint(log: Log): string {
  return hash('sha256', isLossy(log) ? logText(log) : orderedText(log), 'base64url').slice(0, 22);
}

function orderedText(log: Log): string {
  const names = Object.keys(log).toSorted();
  const values = names.map((name) => log[name]);
  // A function that looks at every member takes longer than all the rest, and hardly an entry has members within.
  const isFlat = values.every((value) => typeof value !== 'object' || value === null);
  return JSON.stringify([names, values], isFlat ? undefined : inOneOrder);
}

function inOneOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
