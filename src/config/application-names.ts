import { isObject } from '../schema/guards.ts';
import { readCache, writeCache } from './cache-file.ts';
import { isPair } from './entity-types.ts';
import type { PathsHost } from './paths.ts';

/** Names of applications by their ids. */
export type ApplicationNames = ReadonlyMap<string, string>;

/** Whose applications they are: a tenant at a service, which its base URL tells apart from others. */
interface Owner {
  readonly service: string;
  readonly tenantId: string;
}

const FILE_NAME = 'applications.json';
const KEPT_MS = 86_400_000;

/** The names of a tenant's applications, where they were read within a day; none where reading them was refused. */
export function knownNames(system: PathsHost, owner: Owner, now: number): ApplicationNames | undefined {
  const known = readFresh(system, now)[keyOf(owner)];
  return known && new Map(known.names);
}

/** Keeps them for a day, where they can be kept. */
export function rememberNames(system: PathsHost, owner: Owner, names: ApplicationNames, now: number): void {
  const tenants = { ...readFresh(system, now), [keyOf(owner)]: { at: now, names: [...names] } };
  writeCache(system, FILE_NAME, { version: 1, tenants });
}

interface Known {
  /** When they were read, in epoch milliseconds. */
  readonly at: number;
  readonly names: readonly (readonly [id: string, name: string])[];
}

function keyOf({ service, tenantId }: Owner): string {
  return `${service} ${tenantId}`;
}

function readFresh(system: PathsHost, now: number): Readonly<Record<string, Known>> {
  const { tenants } = readCache(system, FILE_NAME);
  const fresh = Object.entries(isObject(tenants) ? tenants : {}).filter(
    (entry): entry is [string, Known] => isKnown(entry[1]) && entry[1].at <= now && now < entry[1].at + KEPT_MS,
  );
  return Object.fromEntries(fresh);
}

function isKnown(value: unknown): value is Known {
  return (
    isObject(value) && typeof value['at'] === 'number' && Array.isArray(value['names']) && value['names'].every(isPair)
  );
}
