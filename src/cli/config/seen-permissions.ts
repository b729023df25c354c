import { createHmac, randomBytes } from 'node:crypto';
import { DAY_MS } from '../../schema/durations.ts';
import { isObject, objectOrUndefined } from '../../schema/json-value.ts';
import { readCache, writeCache } from './cache.ts';
import type { PathsHost } from './paths.ts';

/** What a response has shown of a permission, and when, ISO 8601. */
export interface SeenPermission {
  readonly status: 'allowed' | 'forbidden';
  readonly at: string;
}

/** A key at a service, which its base URL identifies. */
export interface KeyAtService {
  readonly service: string;
  readonly key: string;
}

const FILE = 'permissions.json';
const MOST_KEYS = 50;

/** Returns what responses to earlier commands have shown of the permissions of a key, by permission. */
export function seenPermissions(system: PathsHost, owner: KeyAtService): Record<string, SeenPermission> {
  const { secret, keys } = read(system);
  const seen = secret === undefined ? undefined : keys[nameOf(owner, secret)];
  return Object.fromEntries(
    Object.entries(seen ?? {}).filter((entry): entry is [string, SeenPermission] => isSeen(entry[1])),
  );
}

/** Stores what a response has shown, unless the same was shown within a day. A failure is ignored. */
export function rememberPermission(
  system: PathsHost,
  owner: KeyAtService,
  { permission, status, now }: { permission: string; status: SeenPermission['status']; now: number },
): void {
  const before = seenPermissions(system, owner)[permission];
  if (before?.status === status && now - Date.parse(before.at) < DAY_MS) return;
  remember(system, owner, permission, { status, at: new Date(now).toISOString() });
}

/** The member of a key for its application. Names of permissions contain a colon. */
const APPLICATION = 'application';

/** Returns the application of a key, as a job that the key created showed it. */
export function applicationOfKey(system: PathsHost, owner: KeyAtService): string | undefined {
  const { secret, keys } = read(system);
  const application = secret === undefined ? undefined : keys[nameOf(owner, secret)]?.[APPLICATION];
  return typeof application === 'string' ? application : undefined;
}

/** Stores the application of a key. A failure is ignored. */
export function rememberApplication(system: PathsHost, owner: KeyAtService, application: string): void {
  if (applicationOfKey(system, owner) !== application) remember(system, owner, APPLICATION, application);
}

function remember(system: PathsHost, owner: KeyAtService, member: string, value: unknown): void {
  const { secret = randomBytes(32).toString('hex'), keys } = read(system);
  const name = nameOf(owner, secret);
  const { [name]: known, ...others } = keys;
  const kept = Object.entries(others).slice(1 - MOST_KEYS);
  writeCache(system, FILE, {
    version: 1,
    secret,
    keys: { ...Object.fromEntries(kept), [name]: { ...known, [member]: value } },
  });
}

// Without the random secret of the file nobody can test guesses of a key.
function nameOf({ service, key }: KeyAtService, secret: string): string {
  return createHmac('sha256', secret).update(`${service}\n${key}`).digest('base64url');
}

interface SeenFile {
  readonly secret: string | undefined;
  readonly keys: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

function read(system: PathsHost): SeenFile {
  const { secret, keys } = readCache(system, FILE);
  const entries = Object.entries(objectOrUndefined(keys) ?? {});
  const known = entries.flatMap(([name, seen]) => (isObject(seen) ? [[name, seen] as const] : []));
  return { secret: typeof secret === 'string' ? secret : undefined, keys: Object.fromEntries(known) };
}

function isSeen(value: unknown): value is SeenPermission {
  return (
    isObject(value) &&
    (value['status'] === 'allowed' || value['status'] === 'forbidden') &&
    typeof value['at'] === 'string' &&
    !Number.isNaN(Date.parse(value['at']))
  );
}
