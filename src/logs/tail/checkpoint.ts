// The checkpoint of a tail.

import * as z from 'zod/mini';
import { refuseNewer, SvcError, systemCodeOf } from '../../base/errors.ts';
import { writeFileAtomicSync } from '../../base/files/draft.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import type { Context } from '../../cli/app/command.ts';
import { tenantInUse } from '../../cli/app/tenant-mark.ts';
import type { Client } from '../../client/api/client.ts';
import { objectOrUndefined, parsedJson } from '../../schema/json-value.ts';
import type { TailPosition } from '../entry.ts';
import { fromStored, positionSchema, toStored } from '../position.ts';

/** The log that a checkpoint belongs to. Tails of different logs must not share a checkpoint. */
export interface Subject {
  /** The base URL of the service. */
  readonly service: string;
  readonly entityType: string | undefined;
  readonly entityId: string | undefined;
  /** The id of the tenant whose log is read, if it is known. */
  readonly tenantId?: string | undefined;
}

/** What a checkpoint contains. */
interface Checkpoint {
  readonly position: TailPosition;
  /** The id of the tenant; undefined if it was not known. */
  readonly tenantId: string | undefined;
}

/** Writes a checkpoint atomically. @throws SvcError `local` */
export function writeCheckpoint(file: string, subject: Subject, position: TailPosition): void {
  writeFileAtomicSync(file, checkpointText(subject, position));
}

/** Reads a checkpoint; undefined if the file does not exist. @throws SvcError `local`, `config` */
function readCheckpoint(file: string, subject: Subject): Checkpoint | undefined {
  let text: string;
  try {
    text = readRegularFileSync(file);
  } catch (error) {
    const code = systemCodeOf(error) ?? 'unknown';
    if (code === 'ENOENT') return undefined;
    const problem = code === 'EINVAL' ? 'is not a regular file' : `could not be read (${code})`;
    throw new SvcError('local', `${file} ${problem}`, {
      hint: 'Choose another checkpoint file, or make this one readable.',
      cause: error,
    });
  }
  return parseCheckpoint(file, text, subject);
}

export function checkpointText(subject: Subject, position: TailPosition): string {
  const { tenantId } = subject;
  const tenant = tenantId === undefined ? {} : { tenant_id: tenantId };
  return `${JSON.stringify({ version: 1, ...subjectMembers(subject), ...tenant, ...toStored(position) })}\n`;
}

/** Parses the text of a checkpoint, whatever its tenant. @throws SvcError `config` if it is damaged, newer, or of another log */
export function parseCheckpoint(file: string, text: string, subject: Subject): Checkpoint {
  const content = parsedJson(text);
  refuseNewer(content, 1, file);
  const checkpoint = checkpointSchema.safeParse(content).data;
  if (checkpoint === undefined)
    throw new SvcError('config', `${file} is not a checkpoint, or is damaged`, {
      hint: 'Choose another file, or delete this one and start from a time.',
    });
  for (const [name, value] of Object.entries(subjectMembers(subject))) {
    if (checkpoint[name] === value) continue;
    throw new SvcError('config', `${file} is the checkpoint of another log: its ${name} differs`, {
      hint: 'Use the options that it was created with, or another checkpoint file.',
      facts: { file, [name]: checkpoint[name] },
    });
  }
  return { position: fromStored(checkpoint), tenantId: checkpoint.tenant_id };
}

/**
 * Checks that a checkpoint is of the tenant whose log is read. With the key of another one, the position would move past
 * entries that nobody has read.
 * @throws SvcError `config`
 */
function requireSameTenant(file: string, kept: Checkpoint, tenantId: string | undefined): void {
  if (kept.tenantId === undefined || tenantId === undefined || kept.tenantId === tenantId) return;
  throw new SvcError(
    'config',
    `${file} is the checkpoint of tenant ${kept.tenantId}, and the key is of tenant ${tenantId}`,
    {
      hint: 'Nothing was read. Choose the profile of that tenant, or another checkpoint file for this one.',
      facts: { file, checkpoint_tenant_id: kept.tenantId, tenant_id: tenantId },
    },
  );
}

const checkpointSchema = z.extend(positionSchema, { version: z.literal(1), tenant_id: z.optional(z.string()) });

function subjectMembers({ service, entityType, entityId }: Subject) {
  return { service, entity_type: entityType ?? null, entity_id: entityId ?? null };
}

/** The client of a tail, its position from the checkpoint, and the subject for new checkpoints. */
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
  const kept = file === undefined ? undefined : readCheckpoint(file, log);
  const client = await context.client();
  if (file === undefined) return { client, kept: undefined, subject: log };
  const tenantId = await tenantOfLog(context, client);
  if (kept) requireSameTenant(file, kept, tenantId);
  return { client, kept: kept?.position, subject: { ...log, tenantId: tenantId ?? kept?.tenantId } };
}

/** Returns the id of the tenant whose log the key reads; undefined if neither the profile nor one request shows it. */
async function tenantOfLog(context: Context, client: Client): Promise<string | undefined> {
  const tenant = tenantInUse(context);
  if (tenant !== undefined) return tenant.id;
  // Neither an outage nor a key that may not read the tenant ends a tail, or delays it by more than two seconds.
  const request = { method: 'GET', path: '/tenants/self', key: 'management' } as const;
  const read = await client.bestEffort(({ any }) => any.send(request));
  if (read instanceof SvcError) return undefined;
  const { id } = objectOrUndefined(read.body?.json) ?? {};
  return typeof id === 'string' ? id : undefined;
}
