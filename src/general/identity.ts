// The facts about a profile: its tenant, its keys with what the service says of them, and the origins of its settings.

import { detailOf, type KeyReport } from '../cli/app/check-key.ts';
import type { Context } from '../cli/app/command.ts';
import { keyOrigin } from '../cli/config/keys.ts';
import { baseUrlText } from '../cli/config/values.ts';
import { READ_PERMISSIONS, type TriedPermission, WRITE_PERMISSIONS } from '../client/api/permissions.ts';
import { readSandboxKey } from '../client/api/sandbox-key.ts';
import type { KeyType } from '../schema/tenant.ts';
import { keyAge } from './key-age.ts';

/** The facts about a profile and its keys. */
export type Identity = ReturnType<typeof identityRow>;

export function identityRow(
  context: Context,
  keys: readonly KeyReport[],
  writes: Readonly<Record<string, string | null>>,
) {
  const { settings } = context;
  const { profile, baseUrl, output, time, timeoutMs, maxWaitMs } = settings;
  const keyRow = (kind: KeyType) => keyRowOf(context, kind, keys);
  return {
    profile: profile.value,
    base_url: baseUrl === undefined ? null : baseUrlText(baseUrl.value),
    tenant: keys.find(({ check }) => check?.tenant !== undefined)?.check?.tenant ?? null,
    management_key: keyRow('management'),
    private_key: keyRow('private'),
    permissions: {
      ...Object.fromEntries(READ_PERMISSIONS.map(({ name }) => [name, triedOf(name, keys)?.status ?? null])),
      ...writes,
    },
    refusals: Object.fromEntries(
      READ_PERMISSIONS.map(({ name }) => [name, detailOf(triedOf(name, keys)?.error) ?? null]),
    ),
    origins: {
      profile: profile.origin.name,
      base_url: baseUrl?.origin.name ?? (settings.sandbox ? 'the embedded sandbox' : 'default'),
      output: output.origin.name,
      time: time.origin.name,
      ledger: settings.ledger.origin.name,
      timeout: timeoutMs.origin.name,
      max_wait: maxWaitMs.origin.name,
    },
  };
}

/** Describes a key, its origin and the service's verdict. `stored_at` is null for a key that svc did not store itself. */
function keyRowOf(context: Context, kind: KeyType, keys: readonly KeyReport[]) {
  const { system, settings } = context;
  const { check, failure } = keys.find((key) => key.kind === kind) ?? {};
  const origin = keyOrigin(system, settings, kind);
  const from = settings.sandbox ? 'built in' : (origin?.name ?? null);
  const stored_at = keyAge(context, kind)?.storedAt ?? null;
  const problem = failure?.message ?? null;
  if (check) return { state: check.verdict, from, stored_at, problem };
  const state = failure?.code === 'key_missing' ? 'missing' : 'unusable';
  return { state: origin === undefined ? 'missing' : state, from, stored_at, problem };
}

function triedOf(name: string, keys: readonly KeyReport[]): TriedPermission | undefined {
  return keys.flatMap(({ check }) => check?.tried ?? []).find(({ permission }) => permission.name === name);
}

/** The status of a write permission. Only the sandbox reports it; at other services it is null. */
type WriteStatus = 'allowed' | 'forbidden' | null;

/** Reads the write permissions of the keys from the sandbox. */
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
