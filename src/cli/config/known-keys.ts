import { createHmac, randomBytes } from 'node:crypto';
import { isObject, objectOrUndefined } from '../../schema/json-value.ts';
import { ownMember } from '../../schema/own-member.ts';
import type { TenantFacts } from '../../schema/tenant.ts';
import { type CacheWriter, readCache, writeCache } from './cache.ts';
import type { Profile } from './config-format.ts';
import type { PathsHost } from './paths.ts';

// Remembers the tenant and the application of keys, in one file of the cache. The file contains no keys, only their hashes
// under a random secret. A failure to write is ignored.

const FILE = 'known-keys.json';

interface KnownKeys {
  readonly secret: string;
  /** By profile: the tenant, the base URL and the hash of the profile's keys at that time. */
  readonly tenants: Readonly<Record<string, unknown>>;
  /** By hash of a key: the key's application. */
  readonly applications: Readonly<Record<string, unknown>>;
}

function read(system: PathsHost): KnownKeys {
  const { secret, tenants, applications } = readCache(system, FILE);
  return {
    secret: typeof secret === 'string' ? secret : randomBytes(32).toString('hex'),
    tenants: objectOrUndefined(tenants) ?? {},
    applications: objectOrUndefined(applications) ?? {},
  };
}

function write(system: PathsHost, known: KnownKeys): void {
  writeCache(system, FILE, { version: 1, ...known });
}

function hashOf(parts: unknown, { secret }: KnownKeys): string {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest('base64url');
}

/** A profile at a service, and the keys that it stores. */
export interface KeysOfProfile {
  readonly profile: string;
  readonly baseUrl: string;
  readonly keys: Profile['keys'];
}

/** Returns the tenant of a profile at its last check with this base URL. The profile's keys may have changed since. */
export function knownTenant(system: PathsHost, profile: string, baseUrl: string): TenantFacts | undefined {
  const tenant = objectOrUndefined(ownMember(read(system).tenants, profile));
  return tenant?.['base_url'] === baseUrl ? tenantFacts(tenant) : undefined;
}

/**
 * Returns the tenant of a profile at its last check, if the profile still has the same keys. An editor, `login --no-check` or
 * another config directory may have replaced them by keys of another tenant.
 */
export function tenantOfKeys(system: PathsHost, { profile, baseUrl, keys }: KeysOfProfile): TenantFacts | undefined {
  const known = read(system);
  const hash = objectOrUndefined(ownMember(known.tenants, profile))?.['keys'];
  return hash === hashOf(partsOf(keys), known) ? knownTenant(system, profile, baseUrl) : undefined;
}

/** Returns the facts of a tenant object; undefined for any other value. */
export function tenantFacts(value: unknown): TenantFacts | undefined {
  if (!isObject(value)) return undefined;
  const { id, name, type } = value;
  if (typeof id !== 'string' || typeof name !== 'string' || typeof type !== 'string') return undefined;
  return { id, name, type };
}

/** Stores the tenant of a profile, as a check of its keys returned it. */
export function rememberTenant(
  { system, out }: CacheWriter,
  { profile, baseUrl: base_url, keys }: KeysOfProfile,
  { id, name, type }: TenantFacts,
): void {
  const known = read(system);
  const facts = { id: out.redact(id), name: out.redact(name), type: out.redact(type) };
  const tenant = { base_url, ...facts, keys: hashOf(partsOf(keys), known) };
  write(system, { ...known, tenants: { ...known.tenants, [profile]: tenant } });
}

export function forgetTenantOf(system: PathsHost, profile: string): void {
  const known = read(system);
  const { [profile]: forgotten, ...tenants } = known.tenants;
  if (forgotten !== undefined) write(system, { ...known, tenants });
}

function partsOf({ management, private: own }: NonNullable<Profile['keys']> = {}): unknown {
  return [management, own].map((key) => [key?.value ?? null, key?.command ?? null]);
}

export interface KeyAtService {
  /** The base URL. */
  readonly service: string;
  readonly key: string;
}

const MAX_APPLICATIONS = 50;

/** Returns the application of a key, known from a job that the key created. */
export function applicationOfKey(system: PathsHost, { service, key }: KeyAtService): string | undefined {
  const known = read(system);
  const application = ownMember(known.applications, hashOf([service, key], known));
  return typeof application === 'string' ? application : undefined;
}

/** Stores the application of a key. */
export function rememberApplication(system: PathsHost, owner: KeyAtService, application: string): void {
  if (applicationOfKey(system, owner) === application) return;
  const known = read(system);
  const hash = hashOf([owner.service, owner.key], known);
  const { [hash]: _, ...others } = known.applications;
  const kept = Object.entries(others).slice(1 - MAX_APPLICATIONS);
  write(system, { ...known, applications: { ...Object.fromEntries(kept), [hash]: application } });
}
