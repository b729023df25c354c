import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { isSvcError } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import type { Context } from '../../cli/app/command.ts';
import { option, typedCommand } from '../../cli/app/hint.ts';
import { conflicting, flag, type Input, type Parameter, suggesting, value } from '../../cli/app/parameter.ts';
import { integer, moment, positiveDuration, text } from '../../cli/app/value-parsers.ts';
import { directoryOf } from '../../cli/config/paths.ts';
import { countText, isoTime, parseTime, wholeSecond, utcTime } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import type { EntryFilter } from '../entry-filter.ts';
import { beginAt, type TailPosition } from '../entry.ts';
import { filterWords, matches } from '../filter.ts';
import {
  ENTITY_PARAMETERS,
  entityFilter,
  ENTRY_PARAMETERS,
  MAX_LAST,
  NO_HIDE_OWN_READS,
  OVERLAP_PARAMETER,
  RETENTION_PARAMETERS,
} from '../options.ts';
import { destinationText, parseDestination } from '../otlp/destination.ts';
import type { TailOptions } from './follow.ts';
import type { LastEntries } from './last-entries.ts';
import type { OwnReads } from './own-reads.ts';

// Without a default, since the parser gives both options one value.
const HIDE_OWN_READS: Parameter<boolean | undefined> = {
  ...flag('--hide-own-reads', 'hide own reads of the logs (default on a terminal)'),
  default: undefined,
};

export const parameters = {
  since: value('--since <time>', 'begin here: 2h, today, 2026-01-31 (default: now)', moment),
  last: conflicting(
    ['since', 'to'],
    value('-n, --last <n>', 'begin with the last n entries, up to 10,000', integer(1, MAX_LAST)),
  ),
  follow: flag('-f, --follow', 'with --last: follow in a pipe too'),
  ...ENTITY_PARAMETERS,
  ...ENTRY_PARAMETERS,
  hideOwnReads: conflicting(['checkpoint', 'to'], HIDE_OWN_READS),
  noHideOwnReads: NO_HIDE_OWN_READS,
  checkpoint: value('--checkpoint <file>', 'keep the position in this file, and resume there', text),
  to: suggesting(
    () => [['otlp+http://127.0.0.1:4318', 'a collector on this machine']],
    value('--to <destination>', 'send entries to an OpenTelemetry collector', parseDestination),
  ),
  overlap: OVERLAP_PARAMETER,
  interval: value('--interval <duration>', 'pause between two polls (default 1s to 15s)', positiveDuration),
  for: value('--for <duration>', 'end after this time', positiveDuration),
  max: value('--max <n>', 'end after this many entries', integer(1)),
  idleExit: value('--idle-exit <duration>', 'end when nothing new arrives for this long', positiveDuration),
  ...RETENTION_PARAMETERS,
} as const;

export type TailInput = Input<typeof parameters>;

/** The options of a tail, with resolved filters. */
export type TailFilter = TailInput & EntryFilter;

/** Whether the tail ends after the last entries: --last for a program, without an option to follow. */
export function endsAtPresent({ out }: Context, input: TailInput): boolean {
  const goesOn = input.follow || input.for !== undefined || input.idleExit !== undefined;
  return input.last !== undefined && !goesOn && !out.isTerminal;
}

/** Returns the position to resume from if the tail ends before the last entries are written. */
export function before({ logs: [first], position }: LastEntries): TailPosition {
  const at = parseTime(first?.created_at ?? '');
  return at === undefined ? position : beginAt(wholeSecond(at));
}

/** The most entries read backwards to find the last matches. */
const MAX_READ_BACK = 20_000;

/** Reads the entries for --last; undefined without that option. @throws SvcError */
export async function readLast(
  context: Context,
  client: Client,
  input: TailFilter,
  { own, onEvent }: { readonly own: OwnReads | undefined; readonly onEvent: TailOptions['onEvent'] },
) {
  const { last: count } = input;
  if (count === undefined) return undefined;
  const [{ lastEntries }, { serviceLogs }, { DEFAULT_OVERLAP_MS, DEFAULT_RETENTION_MS }] = await Promise.all([
    import('./last-entries.ts'),
    import('../read-range.ts'),
    import('../entry.ts'),
  ]);
  const last = await lastEntries(serviceLogs(client, entityFilter(input)), {
    count,
    mostRead: MAX_READ_BACK,
    overlapMs: input.overlap ?? DEFAULT_OVERLAP_MS,
    retentionMs: input.retention ?? DEFAULT_RETENTION_MS,
    keep: (log) => matches(log, input) && (own?.shows(log) ?? true),
    onEvent: endsAtPresent(context, input) ? undefined : onEvent,
  });
  const { logs, read, readFrom } = last;
  if (logs.length < count && readFrom > 0)
    context.notices.note(
      `searched ${countText(read, 'entry')} back to ${utcTime(readFrom)}: ${countText(logs.length, 'match')} of ${count}`,
    );
  return last;
}

/** Returns the command that resumes a tail exactly or, if no checkpoint can be written, from a time that may repeat entries. */
export function resumeCommand(context: Context, input: TailInput, settled: number, keep: (file: string) => void) {
  const file = input.checkpoint ?? keepCheckpoint(context, keep);
  const words = [
    'logs',
    'tail',
    ...(file === undefined ? ['--since', isoTime(settled)] : option('--checkpoint', file)),
    ...filterWords(input),
    ...option('--to', input.to && destinationText(input.to)),
    // A shorter overlap could miss a late entry.
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

/** Writes a checkpoint into the state directory; undefined if that fails, because a tail that has ended must not fail. */
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

// A lock file is as old as its tail, so the age of the checkpoint beside it shows whether it is still used.
function removeUnused(directory: string, before: number): void {
  for (const name of fs.readdirSync(directory)) {
    const used = fs.statSync(path.join(directory, name.replace(/\.lock$/, '')), { throwIfNoEntry: false });
    if (used === undefined || used.mtimeMs < before) fs.rmSync(path.join(directory, name), { force: true });
  }
}
