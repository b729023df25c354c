import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Context } from '../../app/command.ts';
import { option, typedCommand } from '../../app/hint.ts';
import { directoryOf } from '../../config/paths.ts';
import { isSvcError } from '../../errors.ts';
import { makeDirectory } from '../../files/directory.ts';
import { destinationText } from '../../logs/otlp/settings.ts';
import { isoTime } from '../../output/time.ts';
import { type EntityInput, type EntryInput, filterWords } from './entries.ts';

/** What of a tail's options the command that resumes it takes over. */
export interface ResumableInput extends EntryInput, EntityInput {
  readonly checkpoint: string | undefined;
  readonly to: URL | undefined;
  readonly overlap: number | undefined;
  readonly interval: number | undefined;
  readonly retention: number | undefined;
  readonly strict: boolean;
}

/** The command that resumes a tail exactly or, without a checkpoint, from a time that may repeat some entries. */
export function resumeCommand(
  context: Context,
  input: ResumableInput,
  { settled, keep }: { readonly settled: number; readonly keep: (file: string) => void },
): { command: string; mayRepeat: boolean } {
  const file = input.checkpoint ?? keepCheckpoint(context, keep);
  const words = [
    'logs',
    'tail',
    ...(file === undefined ? ['--since', isoTime(settled)] : option('--checkpoint', file)),
    ...filterWords(input),
    ...option('--to', input.to && destinationText(input.to)),
    // With a shorter overlap an entry could come too late.
    ...option('--overlap', durationText(input.overlap)),
    ...option('--interval', durationText(input.interval)),
    ...option('--retention', durationText(input.retention)),
    ...(input.strict ? ['--strict'] : []),
  ];
  return { command: typedCommand(words, context.globals, context.system), mayRepeat: file === undefined };
}

function durationText(ms: number | undefined): string | undefined {
  if (ms === undefined) return undefined;
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}

const KEPT_MS = 7 * 86_400_000;

/** Keeps a checkpoint in the state directory; undefined where it cannot be written, as the tail has ended all the same. */
function keepCheckpoint({ system, clock }: Context, keep: (file: string) => void): string | undefined {
  const state = directoryOf(system, 'state');
  if (state === undefined) return undefined;
  const directory = path.join(state, 'tails');
  const stamp = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  const file = path.join(directory, `${stamp}-${randomBytes(4).toString('hex')}.json`);
  try {
    makeDirectory(directory);
    removeUnused(directory, clock.now() - KEPT_MS);
    keep(file);
    return file;
  } catch (error) {
    if (error instanceof Error && (isSvcError(error, 'local') || 'code' in error)) return undefined;
    throw error;
  }
}

// A lock is as old as the tail that holds it: the checkpoint beside it shows whether that is in use.
function removeUnused(directory: string, before: number): void {
  for (const name of fs.readdirSync(directory)) {
    const used = fs.statSync(path.join(directory, name.replace(/\.lock$/, '')), { throwIfNoEntry: false });
    if (used === undefined || used.mtimeMs < before) fs.rmSync(path.join(directory, name), { force: true });
  }
}
