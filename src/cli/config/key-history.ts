import { createHmac, randomBytes } from 'node:crypto';
import type { KeyType } from '../../schema/tenant.ts';

/**
 * The history of a profile's stored keys, the newest event last. The config file contains it beside the keys, so it is a
 * note for operators and no proof against somebody who edits that file.
 */
export interface KeyHistory {
  /** The random secret of the hashes, without which nobody can test guesses of a key. */
  secret: string;
  events: KeyEvent[];
}

/** A change of a stored key: stored by a login, rotated by `login --rotate`, or removed by a logout. */
export interface KeyEvent {
  readonly at: string;
  readonly type: KeyType;
  readonly event: 'stored' | 'rotated' | 'removed';
  /** The keyed hash of the key; null for a key command and for a removed key. */
  readonly hash: string | null;
}

/** A change of a key as a command reports it; `key` is undefined for a key command and for a removed key. */
export interface KeyChange extends Omit<KeyEvent, 'hash'> {
  readonly key?: string | undefined;
}

/** The members of a profile that concern keys. */
interface ProfileKeys {
  readonly keys?: Partial<Record<KeyType, { readonly value?: string; readonly command?: string }>>;
  readonly key_history?: KeyHistory;
}

// Enough for a rotation every week of several years; the config file stays small.
const MOST_EVENTS = 500;

/** Returns the profile with these changes at the end of its key history. */
export function withKeyChanges<P extends ProfileKeys>(profile: P, changes: readonly KeyChange[]): P {
  const { secret, events } = profile.key_history ?? { secret: randomBytes(32).toString('hex'), events: [] };
  const added = changes.map(({ key, ...change }) => ({
    ...change,
    hash: key === undefined ? null : hashOf(key, secret),
  }));
  return { ...profile, key_history: { secret, events: [...events, ...added].slice(-MOST_EVENTS) } };
}

/** An event of a key history, and whether it describes the key that is stored now. */
export interface KnownKeyEvent extends KeyEvent {
  readonly current: boolean;
}

/** Lists the events of a profile's keys, the newest last. */
export function keyEvents({ key_history: history, keys }: ProfileKeys): KnownKeyEvent[] {
  const { events, secret } = history ?? { events: [], secret: '' };
  return events.map((event, at) => {
    const { type, hash } = event;
    const isNewest = !events.slice(at + 1).some((later) => later.type === type);
    const current = isNewest && event.event !== 'removed' && hashNow(keys, type, secret) === hash;
    return Object.assign({}, event, { current });
  });
}

/** Returns the types of stored keys that the newest event does not describe, because something else than a login stored them. */
export function unexplainedKeys(profile: ProfileKeys): KeyType[] {
  const explained = new Set(keyEvents(profile).flatMap(({ type, current }) => (current ? [type] : [])));
  const types = Object.keys(profile.keys ?? {}) as KeyType[];
  return types.filter((type) => !explained.has(type));
}

/** Returns the hash of the stored key, null for a key command, and undefined without either. */
function hashNow(keys: ProfileKeys['keys'], type: KeyType, secret: string): string | null | undefined {
  const { value, command } = keys?.[type] ?? {};
  if (value !== undefined) return hashOf(value, secret);
  return command === undefined ? undefined : null;
}

function hashOf(key: string, secret: string): string {
  return createHmac('sha256', secret).update(key).digest('hex').slice(0, 16);
}
