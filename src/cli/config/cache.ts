import { join } from 'node:path';
import { makeDirectory } from '../../base/files/directory.ts';
import { writeFileAtomicSync } from '../../base/files/draft.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import { isObject, objectOrUndefined } from '../../schema/json-value.ts';
import type { TenantFacts } from '../../schema/tenant.ts';
import { directoryOf, type PathsHost } from './paths.ts';

// Facts that one command learns from the service for later ones: entity types, the tenants of keys, names of
// applications. Each kind is a file in the cache directory. A missing or unreadable file is no error.

/** Entity types that the interface names; the service may have more. */
export const ENTITY_TYPES = ['application', 'bank', 'card', 'proxy', 'tenant', 'token'] as const;

export const ENTITY_TYPES_FILE_NAME = 'entity-types.json';

/** Returns the entity types that a service last listed, or those of the interface. */
export function entityTypesOf(system: PathsHost, service: string): string[] {
  const listed = listedTypes(system)[service]?.map(([type]) => type) ?? [];
  return listed.length > 0 ? listed : [...ENTITY_TYPES];
}

/** Returns names by entity type, from the interface and from the last lists of all services. */
export function knownEntityTypes(system: PathsHost): Map<string, string> {
  return new Map([...ENTITY_TYPES.map((type) => [type, ''] as const), ...Object.values(listedTypes(system)).flat()]);
}

/** Stores the entity types of a service, which its base URL identifies. @returns whether they could be stored */
export function rememberEntityTypes(system: PathsHost, service: string, types: readonly Named[]): boolean {
  const services = { ...listedTypes(system), [service]: types };
  return writeCache(system, ENTITY_TYPES_FILE_NAME, { version: 1, services });
}

/** A value or an id, with its name. */
type Named = readonly [value: string, name: string];

function listedTypes(system: PathsHost): Record<string, readonly Named[]> {
  const services = objectOrUndefined(readCache(system, ENTITY_TYPES_FILE_NAME)['services']) ?? {};
  return Object.fromEntries(
    Object.entries(services).map(([service, types]) => [service, Array.isArray(types) ? types.filter(isNamed) : []]),
  );
}

function isNamed(value: unknown): value is Named {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}

const TENANTS = 'tenants.json';

/** Returns the tenant of a profile's key at this base URL, as of its last check, if any. */
export function knownTenant(system: PathsHost, profile: string, baseUrl: string): TenantFacts | undefined {
  const known = readCache(system, TENANTS)[profile];
  return isObject(known) && known['base_url'] === baseUrl ? tenantFacts(known) : undefined;
}

/** Stores the tenant of a profile; a failure is ignored. */
export function rememberTenant(system: PathsHost, profile: string, baseUrl: string, tenant: TenantFacts): void {
  const { id, name, type } = tenant;
  const known = { base_url: baseUrl, id, name, type };
  writeCache(system, TENANTS, { ...readCache(system, TENANTS), [profile]: known });
}

/** Reads a tenant from a value; undefined if it is none. */
export function tenantFacts(value: unknown): TenantFacts | undefined {
  if (!isObject(value)) return undefined;
  const { id, name, type } = value;
  if (typeof id !== 'string' || typeof name !== 'string' || typeof type !== 'string') return undefined;
  return { id, name, type };
}

/** Names of applications by their ids. */
export type ApplicationNames = ReadonlyMap<string, string>;

/** The owner of applications: a tenant at a service, which its base URL identifies. */
interface Owner {
  readonly service: string;
  readonly tenantId: string;
}

const APPLICATIONS = 'applications.json';
const APPLICATIONS_KEPT_MS = 86_400_000;

/** Returns the names of a tenant's applications, if they were read within a day; none if reading them was refused. */
export function knownApplications(system: PathsHost, owner: Owner, now: number): ApplicationNames | undefined {
  const known = freshApplications(system, now)[keyOf(owner)];
  return known && new Map(known.names);
}

/** Returns the names of all tenants' applications that were read within a day, at one service or at all. */
export function knownApplicationsOf(system: PathsHost, service: string | undefined, now: number): ApplicationNames {
  const tenants = Object.entries(freshApplications(system, now)).filter(
    ([key]) => service === undefined || key.startsWith(`${service} `),
  );
  return new Map(tenants.flatMap(([, { names }]) => names));
}

/** Stores the names of a tenant's applications for a day; a failure is ignored. */
export function rememberApplications(system: PathsHost, owner: Owner, names: ApplicationNames, now: number): void {
  const tenants = { ...freshApplications(system, now), [keyOf(owner)]: { at: now, names: [...names] } };
  writeCache(system, APPLICATIONS, { version: 1, tenants });
}

interface Applications {
  /** The time of reading, in epoch milliseconds. */
  readonly at: number;
  readonly names: readonly Named[];
}

function keyOf({ service, tenantId }: Owner): string {
  return `${service} ${tenantId}`;
}

function freshApplications(system: PathsHost, now: number): Readonly<Record<string, Applications>> {
  const tenants = objectOrUndefined(readCache(system, APPLICATIONS)['tenants']) ?? {};
  const fresh = Object.entries(tenants).filter(
    (entry): entry is [string, Applications] =>
      isApplications(entry[1]) && entry[1].at <= now && now < entry[1].at + APPLICATIONS_KEPT_MS,
  );
  return Object.fromEntries(fresh);
}

function isApplications(value: unknown): value is Applications {
  if (!isObject(value)) return false;
  const { at, names } = value;
  return typeof at === 'number' && Array.isArray(names) && names.every(isNamed);
}

function readCache(system: PathsHost, name: string): Readonly<Record<string, unknown>> {
  try {
    const directory = directoryOf(system, 'cache');
    if (directory === undefined) return {};
    return objectOrUndefined(JSON.parse(readRegularFileSync(join(directory, name)))) ?? {};
  } catch {
    return {};
  }
}

/** @returns whether it could be written */
function writeCache(system: PathsHost, name: string, content: object): boolean {
  const directory = directoryOf(system, 'cache');
  if (directory === undefined) return false;
  try {
    makeDirectory(directory);
    writeFileAtomicSync(join(directory, name), `${JSON.stringify(content)}\n`);
    return true;
  } catch {
    return false;
  }
}
