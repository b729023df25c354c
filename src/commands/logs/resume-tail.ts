import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Context } from '../../app/command.ts';
import { option, typedCommand } from '../../app/hint.ts';
import { stateDirectory } from '../../config/paths.ts';
import { isSvcError } from '../../errors.ts';
import { makeDirectory } from '../../files/directory.ts';
import { type Subject, type TailPosition, writeCheckpoint } from '../../logs/checkpoint.ts';
import { destinationText } from '../../logs/otlp/settings.ts';
import { isoTime } from '../../output/time.ts';
import type { TailInput } from './tail.ts';

/** How a tail that has ended is resumed. */
export interface Resume {
  readonly command: string;
  /** Whether entries that were given come again: no checkpoint could be kept. */
  readonly mayRepeat: boolean;
}

/**
 * The command that resumes a tail behind the entries that were taken, with its filters and form. A tail that was given
 * no checkpoint gets one of its own; where that cannot be written, a time from which on nothing is missed.
 */
export function resumeTail(
  context: Context,
  input: TailInput,
  subject: Subject,
  taken: TailPosition,
): Resume {
  const file = input.checkpoint ?? keptFile(context, subject, taken);
  const from = file === undefined ? ['--since', isoTime(taken.settled)] : option('--checkpoint', file);
  const words = ['logs', 'tail', ...from, ...filters(input), ...manner(input)];
  return { command: typedCommand(words, context.globals), mayRepeat: file === undefined };
}

function keptFile({ system, clock }: Context, subject: Subject, taken: TailPosition): string | undefined {
  const directory = stateDirectory(system);
  if (directory === undefined) return undefined;
  return keepCheckpoint(path.join(directory, 'tails'), subject, taken, clock.now());
}

function filters({ entityType, entityId, operation, actor, actorType, grep }: TailInput): string[] {
  return [
    ...option('--entity-type', entityType),
    ...option('--entity-id', entityId),
    ...option('--operation', operation),
    ...option('--actor', actor),
    ...option('--actor-type', actorType),
    ...option('--grep', grep?.source),
  ];
}

/** What the rest depends on, too: with a shorter overlap an entry could come too late. */
function manner({ to, overlap, interval, retention, strict }: TailInput): string[] {
  return [
    ...option('--to', to && destinationText(to)),
    ...option('--overlap', durationText(overlap)),
    ...option('--interval', durationText(interval)),
    ...option('--retention', durationText(retention)),
    ...(strict ? ['--strict'] : []),
  ];
}

function durationText(ms: number | undefined): string | undefined {
  if (ms === undefined) return undefined;
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}

const KEPT_MS = 7 * 86_400_000;

/**
 * Keeps the checkpoint of a tail that was given no file for it, and removes those that were not used for seven days.
 * Returns its file, or undefined where none can be written: the tail has ended all the same.
 */
function keepCheckpoint(
  directory: string,
  subject: Subject,
  standing: TailPosition,
  now: number,
): string | undefined {
  const stamp = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  const file = path.join(directory, `${stamp}-${randomBytes(4).toString('hex')}.json`);
  try {
    makeDirectory(directory);
    removeUnused(directory, now - KEPT_MS);
    writeCheckpoint(file, subject, standing);
    return file;
  } catch (error) {
    if (error instanceof Error && (isSvcError(error, 'local') || 'code' in error)) return undefined;
    throw error;
  }
}

// A lock is as old as the tail that holds it: the checkpoint beside it says whether that is in use.
function removeUnused(directory: string, before: number): void {
  for (const name of fs.readdirSync(directory)) {
    const used = fs.statSync(path.join(directory, name.replace(/\.lock$/, '')), { throwIfNoEntry: false });
    if (used === undefined || used.mtimeMs < before) fs.rmSync(path.join(directory, name), { force: true });
  }
}
