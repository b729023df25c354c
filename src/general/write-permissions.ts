import type { KeyReport } from '../cli/app/check-key.ts';
import type { Context } from '../cli/app/command.ts';
import { WRITE_PERMISSIONS } from '../client/api/any-endpoint.ts';
import { readSandboxKey } from '../client/api/sandbox-key.ts';
import type { KeyType } from '../schema/tenant.ts';

/** The status of a permission to write, as the sandbox says; null at another service, which shows it only by a change. */
export type WriteStatus = 'allowed' | 'forbidden' | null;

/** Asks the sandbox which permissions to write the keys have, without writing. */
export async function writePermissions(
  context: Context,
  keys: readonly KeyReport[],
): Promise<Record<string, WriteStatus>> {
  const usable = keys.filter(({ check }) => check?.verdict === 'accepted' || check?.verdict === 'powerless');
  const known = new Map(
    await Promise.all(usable.map(async ({ kind }) => [kind, await statusOf(context, kind)] as const)),
  );
  return Object.fromEntries(WRITE_PERMISSIONS.map(({ name, kind }) => [name, known.get(kind)?.(name) ?? null]));
}

async function statusOf(context: Context, kind: KeyType): Promise<(name: string) => WriteStatus> {
  const listed = (await readSandboxKey(await context.client(), kind))?.permissions;
  return (name) => (listed === undefined ? null : listed.includes(name) ? 'allowed' : 'forbidden');
}
