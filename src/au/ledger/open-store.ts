import fs from 'node:fs';
import path from 'node:path';
import { sha256Of } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { openStore } from '../../client/store/open-store.ts';
import { S3_SECRETS } from '../../client/store/s3/settings.ts';
import type { ObjectStore } from '../../client/store/store.ts';
import type { UsedLedger } from './used-ledger.ts';

/** Opens a place for ledgers without reading it. After this, the credentials of a bucket are removed from all output. */
export function openLedgerStore(
  context: Context,
  location: string,
  writers: 'machine' | 'machines' = 'machines',
): Promise<ObjectStore> {
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

/** Opens the place that is set for a tenant's ledger, by the name under which this machine knows it. */
export async function openSharedStore(
  context: Context,
  location: string,
  used: Pick<UsedLedger, 'ledger'> | undefined,
): Promise<ObjectStore> {
  const objects = await openLedgerStore(context, location);
  const known = used?.ledger;
  if (known === undefined || known === objects.name || !isSamePlace(known, objects.name)) return objects;
  return openLedgerStore(context, known);
}

/** Opens the ledgers of a directory that only this machine uses. */
export function openOwnLedgers(context: Context, directory: string): Promise<ObjectStore> {
  return openLedgerStore(context, directory, 'machine');
}

/** Opens the copies of what this machine read of a ledger, below its folder of the tenant. Two ledgers have objects of the same names. */
export function openCopies(
  context: Context,
  folder: string,
  { name }: Pick<ObjectStore, 'name'>,
): Promise<ObjectStore> {
  return openOwnLedgers(context, path.join(folder, 'seen', sha256Of(name).slice(0, 16)));
}
