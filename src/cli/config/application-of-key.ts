import { createHmac, randomBytes } from 'node:crypto';
import { isObject, objectOrUndefined } from '../../schema/json-value.ts';
import { readCache, writeCache } from './cache.ts';
import type { PathsHost } from './paths.ts';

/** A key at a service, which its base URL identifies. */
export interface KeyAtService {
  readonly service: string;
  readonly key: string;
}

const FILE = 'key-applications.json';
const MEMBER = 'application';
const MOST_KEYS = 50;

/** Returns the application of a key, as a job that the key created showed it. */
export function applicationOfKey(system: PathsHost, owner: KeyAtService): string | undefined {
  const { secret, keys } = read(system);
  const application = secret === undefined ? undefined : keys[nameOf(owner, secret)]?.[MEMBER];
  return typeof application === 'string' ? application : undefined;
}

/** Stores the application of a key. A failure is ignored. */
export function rememberApplication(system: PathsHost, owner: KeyAtService, application: string): void {
  if (applicationOfKey(system, owner) === application) return;
  const { secret = randomBytes(32).toString('hex'), keys } = read(system);
  const name = nameOf(owner, secret);
  const { [name]: _, ...others } = keys;
  const kept = Object.entries(others).slice(1 - MOST_KEYS);
  writeCache(system, FILE, {
    version: 1,
    secret,
    keys: { ...Object.fromEntries(kept), [name]: { [MEMBER]: application } },
  });
}

// Without the random secret of the file nobody can test guesses of a key.
function nameOf({ service, key }: KeyAtService, secret: string): string {
  return createHmac('sha256', secret).update(`${service}\n${key}`).digest('base64url');
}

interface ApplicationsFile {
  readonly secret: string | undefined;
  readonly keys: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

function read(system: PathsHost): ApplicationsFile {
  const { secret, keys } = readCache(system, FILE);
  const entries = Object.entries(objectOrUndefined(keys) ?? {});
  const known = entries.flatMap(([name, value]) => (isObject(value) ? [[name, value] as const] : []));
  return { secret: typeof secret === 'string' ? secret : undefined, keys: Object.fromEntries(known) };
}
