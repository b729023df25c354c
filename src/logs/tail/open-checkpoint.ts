import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { tenantInUse } from '../../cli/app/tenant-mark.ts';
import type { Client } from '../../client/api/client.ts';
import { objectOrUndefined } from '../../schema/json-value.ts';
import type { TailPosition } from '../entry.ts';
import { readCheckpoint, requireSameTenant, type Subject } from './checkpoint.ts';

/** The client of a tail, where it goes on if its checkpoint says so, and what is written into checkpoints. */
interface Opened {
  readonly client: Client;
  readonly kept: TailPosition | undefined;
  readonly subject: Subject;
}

/**
 * Opens the client of a tail and reads its checkpoint, if it has one.
 * @throws SvcError `config` for a checkpoint of another log or tenant, `local`
 */
export async function openCheckpoint(context: Context, log: Subject, file: string | undefined): Promise<Opened> {
  const found = file === undefined ? undefined : readCheckpoint(file, log);
  const client = await context.client();
  if (file === undefined) return { client, kept: undefined, subject: log };
  const tenantId = await tenantOfLog(context, client);
  if (found) requireSameTenant(file, found, tenantId);
  return { client, kept: found?.position, subject: { ...log, tenantId: tenantId ?? found?.tenantId } };
}

/** Returns the id of the tenant whose log the key reads; undefined if neither the profile nor one request shows it. */
async function tenantOfLog(context: Context, client: Client): Promise<string | undefined> {
  const known = tenantInUse(context);
  if (known !== undefined) return known.id;
  // Neither an outage nor a key that may not read the tenant ends a tail, or delays it by more than two seconds.
  const request = { method: 'GET', path: '/tenants/self', key: 'management' } as const;
  const read = await client.bestEffort(({ any }) => any.send(request));
  if (read instanceof SvcError) return undefined;
  const { id } = objectOrUndefined(read.body?.json) ?? {};
  return typeof id === 'string' ? id : undefined;
}
