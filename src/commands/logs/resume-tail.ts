import path from 'node:path';
import type { Context } from '../../cli/context.ts';
import { option, typedCommand } from '../../cli/typed-command.ts';
import { stateDirectory } from '../../config/paths.ts';
import { destinationText } from '../../otlp/destination.ts';
import type { Subject } from '../../tail/checkpoint.ts';
import { keepCheckpoint } from '../../tail/kept-checkpoints.ts';
import type { Standing } from '../../tail/state.ts';
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
export function resumeTail(context: Context, input: TailInput, subject: Subject, taken: Standing): Resume {
  const file = input.checkpoint ?? keptFile(context, subject, taken);
  const from = file === undefined ? ['--since', iso(taken.settled)] : option('--checkpoint', file);
  const words = ['logs', 'tail', ...from, ...filters(input), ...manner(input)];
  return { command: typedCommand(words, context.globals), mayRepeat: file === undefined };
}

function keptFile({ system, clock }: Context, subject: Subject, taken: Standing): string | undefined {
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

function iso(time: number): string {
  return new Date(time).toISOString();
}
