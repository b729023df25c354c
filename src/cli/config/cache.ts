import { join } from 'node:path';
import { makeDirectory } from '../../base/files/directory.ts';
import { writeFileAtomicSync } from '../../base/files/draft.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { isObject, objectOrUndefined } from '../../schema/json-value.ts';
import { directoryOf, type PathsHost } from './paths.ts';

// The cache of facts that the service returned, for later commands: entity types and names of applications here, facts about
// keys in known-keys.ts. Each kind is a file in the cache directory. A missing or unreadable file is no error.

/** The documented entity types. The service may have more. */
export const ENTITY_TYPES = ['application', 'bank', 'card', 'proxy', 'tenant', 'token'] as const;

export const ENTITY_TYPES_FILE_NAME = 'entity-types.json';

/** Returns the entity types that a service last listed; without a list, the documented types. */
export function entityTypesOf(system: PathsHost, service: string): string[] {
  const listed = listedTypes(system)[service]?.map(([type]) => type) ?? [];
  return listed.length > 0 ? listed : [...ENTITY_TYPES];
}

/** Returns names by entity type: documented types, and types from the last lists of all services. */
export function knownEntityTypes(system: PathsHost): Map<string, string> {
  return new Map([...ENTITY_TYPES.map((type) => [type, ''] as const), ...Object.values(listedTypes(system)).flat()]);
}

/** Where facts are stored. Whatever the output would hide is not (R06): completion prints facts without a redactor. */
export interface CacheWriter {
  readonly system: PathsHost;
  readonly out: { redact(text: string): string };
}

/** Stores the entity types of a service; `service` is the origin of its base URL, or `sandbox`. @returns whether the file could be written */
export function rememberEntityTypes({ system, out }: CacheWriter, service: string, types: readonly Named[]): boolean {
  const services = { ...listedTypes(system), [service]: withoutSecrets(types, out) };
  return writeCache(system, ENTITY_TYPES_FILE_NAME, { version: 1, services });
}

/** A value or an id, with a name for people. */
type Named = readonly [value: string, name: string];

function listedTypes(system: PathsHost): Record<string, readonly Named[]> {
  const services = objectOrUndefined(readCache(system, ENTITY_TYPES_FILE_NAME)['services']) ?? {};
  return Object.fromEntries(
    Object.entries(services).map(([service, types]) => [service, Array.isArray(types) ? types.filter(isNamed) : []]),
  );
}

/** Leaves out values with a secret, which no filter could use without it. A name may do without its secret part. */
function withoutSecrets(pairs: Iterable<Named>, out: CacheWriter['out']): Named[] {
  return [...pairs]
    .filter(([value]) => out.redact(value) === value)
    .map(([value, name]) => [value, out.redact(name)] as const);
}

function isNamed(value: unknown): value is Named {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}

/** Names of applications by their ids. */
export type ApplicationNames = ReadonlyMap<string, string>;

/** The names of applications that the service returned. */
export interface NamesRead {
  /** The names for a table, where long names are cut. */
  readonly shown: ApplicationNames;
  /** The whole names of the applications whose names are cut. */
  readonly whole: ApplicationNames;
  /** Whether the tenant has more applications than were read. */
  readonly hasMore: boolean;
}

/** The owner of applications: a tenant of a service. */
interface Owner {
  /** The base URL. */
  readonly service: string;
  readonly tenantId: string;
}

const APPLICATIONS = 'applications.json';
const MAX_TENANTS = 50;

/** The names of a tenant's applications. Names are fresh for a day, and so is the fact that reading them was refused. */
export interface KnownNames {
  readonly names: ApplicationNames;
  readonly isFresh: boolean;
}

/** Returns the names of a tenant's applications, as last read. */
export function knownApplications(system: PathsHost, owner: Owner, now: number): KnownNames {
  const known = tenantsOf(system)[ownerKey(owner)];
  return known === undefined
    ? { names: new Map(), isFresh: false }
    : { names: new Map(known.names), isFresh: isFresh(known, now) };
}

/**
 * Returns the whole names of the applications of all tenants, at one service or at all services. Leaves out tenants whose
 * names are incomplete or more than a day old, unless `allowOld` is set.
 */
export function knownApplicationsOf(
  system: PathsHost,
  service: string | undefined,
  now: number,
  { allowOld = false } = {},
): { readonly names: ApplicationNames; readonly hasMore: boolean } {
  const tenants = Object.entries(tenantsOf(system))
    .filter(([key]) => service === undefined || key.startsWith(`${service} `))
    .map(([, known]) => known)
    .filter((known) => allowOld || (isFresh(known, now) && !known.more));
  return { names: wholeNames(tenants), hasMore: tenants.some(({ more }) => more) };
}

function wholeNames(tenants: readonly Applications[]): Map<string, string> {
  return new Map(tenants.flatMap(({ names, whole }) => [...names, ...whole]));
}

/** Stores the names of a tenant's applications. `undefined`, for a refused read, keeps the old names. Ignores failures. */
export function rememberApplications(
  { system, out }: CacheWriter,
  owner: Owner,
  names: NamesRead | undefined,
  now: number,
): void {
  const { names: shown, whole, more } = tenantsOf(system)[ownerKey(owner)] ?? { names: [], whole: [] };
  const read = names && {
    names: withoutSecrets(names.shown, out),
    whole: withoutSecrets(names.whole, out),
    more: names.hasMore,
  };
  writeTenant(system, owner, { names: shown, whole, more, ...read, at: now });
}

/** Returns the applications that completion offers, each with a description: by name, or by id if several share the name. */
export function knownActors(system: PathsHost): Named[] {
  const names = wholeNames(Object.values(tenantsOf(system)));
  const all = [...names.values()];
  const isShared = (name: string): boolean => all.indexOf(name) !== all.lastIndexOf(name);
  return [...names].map(([id, name]) => (isShared(name) ? [id, name] : [name, `application ${id}`]));
}

interface Applications {
  /** The time of reading the names, in epoch milliseconds. */
  readonly at: number;
  readonly names: readonly Named[];
  /** The whole names of applications whose names are cut in `names`. */
  readonly whole: readonly Named[];
  /** Whether the tenant has more applications than `names`. */
  readonly more?: boolean | undefined;
}

function ownerKey({ service, tenantId }: Owner): string {
  return `${service} ${tenantId}`;
}

function isFresh({ at }: Applications, now: number): boolean {
  return at <= now && now < at + DAY_MS;
}

/** Stores the applications of a tenant, and drops the tenants stored longest ago if there are too many. */
function writeTenant(system: PathsHost, owner: Owner, known: Applications): void {
  const others = Object.entries(tenantsOf(system)).filter(([key]) => key !== ownerKey(owner));
  const tenants = Object.fromEntries([...others, [ownerKey(owner), known] as const].slice(-MAX_TENANTS));
  writeCache(system, APPLICATIONS, { version: 1, tenants });
}

function tenantsOf(system: PathsHost): Readonly<Record<string, Applications>> {
  const tenants = objectOrUndefined(readCache(system, APPLICATIONS)['tenants']) ?? {};
  return Object.fromEntries(
    Object.entries(tenants).filter((entry): entry is [string, Applications] => isApplications(entry[1])),
  );
}

function isApplications(value: unknown): value is Applications {
  if (!isObject(value)) return false;
  const { at, names, whole } = value;
  return typeof at === 'number' && [names, whole].every((list) => Array.isArray(list) && list.every(isNamed));
}

/** Reads a file of the cache. Returns an empty object if the file is missing or unreadable. */
export function readCache(system: PathsHost, name: string): Readonly<Record<string, unknown>> {
  try {
    const directory = directoryOf(system, 'cache');
    if (directory === undefined) return {};
    return objectOrUndefined(JSON.parse(readRegularFileSync(join(directory, name)))) ?? {};
  } catch {
    return {};
  }
}

/** Writes a file of the cache. @returns whether the file could be written */
export function writeCache(system: PathsHost, name: string, content: object): boolean {
  const directory = directoryOf(system, 'cache');
  if (directory === undefined) return false;
  try {
    makeDirectory(directory);
    // Not flushed: after a power loss, the facts are read from the service again.
    writeFileAtomicSync(join(directory, name), `${JSON.stringify(content)}\n`, { isFlushed: false });
    return true;
  } catch {
    return false;
  }
}
