import * as z from 'zod/mini';
import { refuseNewer, SvcError, systemCodeOf } from '../../base/errors.ts';
import { writeFileAtomicSync } from '../../base/files/draft.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import { parsedJson } from '../../schema/json-value.ts';
import type { TailPosition } from '../entry.ts';
import { fromStored, positionSchema, toStored } from '../position.ts';

/** The log that a checkpoint belongs to. Tails of different logs must not share a checkpoint. */
export interface Subject {
  /** The base URL of the service. */
  readonly service: string;
  readonly entityType: string | undefined;
  readonly entityId: string | undefined;
}

/** Writes a checkpoint atomically. @throws SvcError `local` */
export function writeCheckpoint(file: string, subject: Subject, position: TailPosition): void {
  writeFileAtomicSync(file, checkpointText(subject, position));
}

/** Reads a checkpoint; undefined if the file does not exist. @throws SvcError `local`, `config` */
export function readCheckpoint(file: string, subject: Subject): TailPosition | undefined {
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
  return `${JSON.stringify({ version: 1, ...subjectMembers(subject), ...toStored(position) })}\n`;
}

/** Parses the text of a checkpoint. @throws SvcError `config` if it is damaged, newer, or of another log */
export function parseCheckpoint(file: string, text: string, subject: Subject): TailPosition {
  const found = parsedJson(text);
  refuseNewer(found, 1, file);
  const checkpoint = checkpointSchema.safeParse(found).data;
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
  return fromStored(checkpoint);
}

const checkpointSchema = z.extend(positionSchema, { version: z.literal(1) });

function subjectMembers({ service, entityType, entityId }: Subject) {
  return { service, entity_type: entityType ?? null, entity_id: entityId ?? null };
}
