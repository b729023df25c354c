import { join } from 'node:path';
import { makeDirectory } from '../files/directory.ts';
import { writeFileAtomicSync } from '../files/draft.ts';
import { readRegularFileSync } from '../files/read-pipe.ts';
import { isObject } from '../schema/guards.ts';
import { cacheDirectory, type PathsHost } from './paths.ts';

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

/** Keeps them for a day. A cache that cannot be written fails no command. */
export function rememberNames(system: PathsHost, owner: Owner, names: ApplicationNames, now: number): void {
  const directory = cacheDirectory(system);
  if (directory === undefined) return;
  const tenants = { ...readFresh(system, now), [keyOf(owner)]: { at: now, names: [...names] } };
  try {
    makeDirectory(directory);
    writeFileAtomicSync(join(directory, FILE_NAME), `${JSON.stringify({ version: 1, tenants })}\n`);
  } catch {
    // They are read again next time.
  }
}

interface Known {
  /** When they were read, in epoch milliseconds. */
  readonly at: number;
  readonly names: readonly (readonly [id: string, name: string])[];
}

function keyOf({ service, tenantId }: Owner): string {
  return `${service} ${tenantId}`;
}

/** What is less than a day old, as far as the cache file is what it should be. */
function readFresh(system: PathsHost, now: number): Readonly<Record<string, Known>> {
  try {
    const directory = cacheDirectory(system);
    if (directory === undefined) return {};
    const cache: unknown = JSON.parse(readRegularFileSync(join(directory, FILE_NAME)));
    const tenants = isObject(cache) && isObject(cache['tenants']) ? cache['tenants'] : {};
    const fresh = Object.entries(tenants).filter(
      (entry): entry is [string, Known] => isKnown(entry[1]) && entry[1].at <= now && now < entry[1].at + KEPT_MS,
    );
    return Object.fromEntries(fresh);
  } catch {
    return {};
  }
}

function isKnown(value: unknown): value is Known {
  return (
    isObject(value) && typeof value['at'] === 'number' && Array.isArray(value['names']) && value['names'].every(isPair)
  );
}

function isPair(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}
