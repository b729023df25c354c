// Opens the places of ledgers, and remembers in the state directory which ledger a tenant used.

import fs from 'node:fs';
import path from 'node:path';
import { isAbsent, readFailure, refuseNewer, SvcError } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { sha256Of, writeFileAtomicSync } from '../../base/files/draft.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import type { Setting } from '../../cli/config/origin.ts';
import { isObject, parsedJson } from '../../schema/json-value.ts';
import type { Context } from '../../cli/app/command.ts';
import { openStore } from '../../client/store/open-store.ts';
import { S3_SECRETS } from '../../client/store/s3/settings.ts';
import type { ObjectStore, Store } from '../../client/store/store.ts';
import type { Copies } from './objects.ts';

/** The shared ledger that a tenant used, as the state directory remembers it. */
export interface UsedLedger {
  /** The location of the shared ledger; undefined while the state directory has its own. */
  readonly ledger?: string | undefined;
  /** Whether this machine could only read the ledger, and has not copied its claims there. */
  readonly pending?: boolean | undefined;
}

const NAME = 'at.json';

/** Reads the ledger that was used; undefined if there was none. @throws SvcError `config` for a damaged file */
export function readUsedLedger(directory: string): UsedLedger | undefined {
  const file = path.join(directory, NAME);
  let text: string;
  try {
    text = readRegularFileSync(file);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw readFailure(file, error);
  }
  const value = parsedJson(text);
  refuseNewer(value, 1, file);
  // Checked without zod, which TAB completion must not load.
  if (isObject(value) && value['version'] === 1) {
    const { ledger, pending } = value;
    const isKnown = ledger === undefined || typeof ledger === 'string';
    if (isKnown && (pending === undefined || typeof pending === 'boolean')) return { ledger, pending };
  }
  throw new SvcError(
    'config',
    `${file} is damaged, so the shared ledger of this tenant is not known; nothing was sent`,
    { hint: 'Remove this file, and set the ledger that the other machines use.', facts: { file } },
  );
}

/** Returns the shared ledgers that were used, by the folder of their tenant below `root`. */
export function sharedLedgersUsed(root: string): ReadonlyMap<string, UsedLedger> {
  let folders: readonly string[];
  try {
    folders = fs.readdirSync(root);
  } catch (error) {
    if (isAbsent(error)) return new Map();
    throw readFailure(root, error);
  }
  const used = folders.map((folder) => [folder, readUsedLedger(path.join(root, folder))] as const);
  return new Map(used.flatMap(([folder, each]) => (each?.ledger === undefined ? [] : [[folder, each]])));
}

/** Returns the folder of a tenant in a state directory. */
export function folderOfTenant(tenant: string): string {
  return /^[\w-]{1,80}$/.test(tenant) ? tenant : 'other';
}

export function writeUsedLedger(directory: string, { ledger, pending }: UsedLedger): void {
  makeDirectory(directory);
  writeFileAtomicSync(path.join(directory, NAME), `${JSON.stringify({ version: 1, ledger, pending })}\n`);
}

/**
 * Checks that a tenant's ledger is the one that this state directory used before. Without it, rows that other machines
 * sent would be paid for again.
 * @throws SvcError `config`
 */
export function requireSameLedger(
  used: UsedLedger | undefined,
  { value: location, origin }: Setting<string | undefined>,
  directory: string,
): void {
  if (used?.ledger === undefined || used.ledger === location) return;
  const { ledger } = used;
  // A variable overrides the profile, so the advice is about the variable.
  const isVariable = origin.kind === 'environment';
  const by = isVariable ? ` (${origin.name})` : '';
  const instead = location === undefined ? `no ledger is set${by}` : `the ledger is set to ${location}${by}`;
  const again = isVariable ? `Set ${origin.name} to ${ledger} again` : 'Set the ledger again';
  const moved =
    location === undefined
      ? ''
      : ` Only if the whole ledger was moved to ${location}, and no machine uses the old place any more, remove ${path.join(directory, NAME)} on each machine that used it.`;
  throw new SvcError('config', `this tenant's ledger is ${ledger}, and ${instead}; nothing was sent`, {
    hint: `${again}: rows that other machines sent would be paid for twice without it.${moved}`,
    // Scripts run the first command, so it is one that only reads.
    next: isVariable ? ['doctor'] : ['profile', 'set', 'ledger', ledger],
    facts: { ledger },
  });
}

/** Opens a directory or bucket with ledgers. From then on, the credentials of the bucket are redacted in all output. */
export function openLedgerStore(
  context: Context,
  location: string,
  writers: 'machine' | 'machines' = 'machines',
): Promise<Store> {
  const { system, clock, signal, trace } = context;
  if (/^s3:/i.test(location)) for (const name of S3_SECRETS) context.addSecret(system.env[name]?.trim() ?? '');
  const { env, cwd, pid } = system;
  const isAlive = (one: number): boolean => system.isAlive(one);
  return openStore({ env, cwd, pid, isAlive, clock, signal, trace }, location, { noun: 'ledger', writers });
}

/** Tells whether two locations are the same place: a directory may also be reached through a link. */
export function isSamePlace(one: string, other: string): boolean {
  if (one === other) return true;
  const real = realPath(one);
  return real !== undefined && real === realPath(other);
}

function realPath(location: string): string | undefined {
  if (!path.isAbsolute(location)) return undefined;
  try {
    return fs.realpathSync.native(location);
  } catch {
    return undefined;
  }
}

/** Opens the shared ledger that is set, under the location that this machine used before if both are the same place. */
export async function openSharedStore(
  context: Context,
  location: string,
  used: Pick<UsedLedger, 'ledger'> | undefined,
): Promise<ObjectStore> {
  const objects = await openLedgerStore(context, location);
  const usedLocation = used?.ledger;
  if (usedLocation === undefined || usedLocation === objects.name || !isSamePlace(usedLocation, objects.name))
    return objects;
  return openLedgerStore(context, usedLocation);
}

/** Opens a directory with ledgers that only this machine uses. */
export function openOwnLedgers(context: Context, directory: string): Promise<Store> {
  return openLedgerStore(context, directory, 'machine');
}

/** Opens this machine's copies of a ledger's objects, in a directory for each ledger below the folder of the tenant. */
export function openCopies(context: Context, folder: string, { name }: Pick<ObjectStore, 'name'>): Promise<Copies> {
  return openOwnLedgers(context, path.join(folder, 'seen', sha256Of(name).slice(0, 16)));
}
