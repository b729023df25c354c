// The beginning of a tail, and the commands that resume it.

import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { isSvcError } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import type { Context } from '../../cli/app/command.ts';
import { option, typedCommand } from '../../cli/app/hint.ts';
import type { moment } from '../../cli/app/moment.ts';
import type { Input } from '../../cli/app/parameter.ts';
import { directoryOf } from '../../cli/config/paths.ts';
import { isoTime, parseTime, utcTime, wholeSecond } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import type { Client } from '../../client/api/client.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { beginAt, DEFAULT_OVERLAP_MS, DEFAULT_RETENTION_MS, type TailPosition } from '../entry.ts';
import { filterWords } from '../filter-words.ts';
import { entityFilter, type EntryFilter, matches } from '../filter.ts';
import {
  durationText,
  type ENTITY_PARAMETERS,
  type ENTRY_PARAMETERS,
  type RETENTION_PARAMETERS,
  retentionWords,
} from '../options.ts';
import { destinationText } from '../otlp/settings.ts';
import type { OwnReads } from '../own-reads.ts';
import type { TailOptions } from './follow.ts';
import type { LastEntries } from './last-entries.ts';

/** The options of a tail. */
export interface TailInput
  extends
    Input<typeof ENTITY_PARAMETERS>,
    Input<typeof ENTRY_PARAMETERS>,
    Input<typeof RETENTION_PARAMETERS>,
    Readonly<Record<'last' | 'overlap' | 'interval' | 'for' | 'max' | 'idleExit', number | undefined>> {
  readonly since: ReturnType<typeof moment> | undefined;
  readonly follow: boolean;
  readonly hideOwnReads: boolean | undefined;
  readonly noHideOwnReads: boolean;
  readonly checkpoint: string | undefined;
  readonly to: URL | undefined;
}

/** The options of a tail, with resolved filters. */
export type TailFilter = TailInput & EntryFilter;

/** Whether the tail ends after the last entries: --last for a program, without an option to follow. */
export function endsAtPresent({ out }: Context, input: TailInput): boolean {
  const goesOn = input.follow || input.for !== undefined || input.idleExit !== undefined;
  return input.last !== undefined && !goesOn && !out.isTerminal;
}

/** Returns the position to resume from if the tail ends before the last entries are written. */
export function positionBefore({ logs: [first], position }: LastEntries): TailPosition {
  const at = parseTime(first?.created_at ?? '');
  return at === undefined ? position : beginAt(wholeSecond(at));
}

/** The largest number of entries read backwards to find the last matches. */
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
  const [{ lastEntries }, { serviceLogs }] = await Promise.all([
    import('./last-entries.ts'),
    import('../read-range.ts'),
  ]);
  const last = await lastEntries(serviceLogs(client, entityFilter(input)), {
    count,
    mostRead: MAX_READ_BACK,
    overlapMs: input.overlap ?? DEFAULT_OVERLAP_MS,
    retentionMs: input.retention ?? DEFAULT_RETENTION_MS,
    keep: (log) => matches(log, input) && (own?.shows(log) ?? true),
    onEvent: endsAtPresent(context, input) ? undefined : onEvent,
    patienceMs: Math.min(input.for ?? Infinity, input.idleExit ?? Infinity),
  });
  const { logs, read, readFrom } = last;
  if (logs.length < count && readFrom > 0)
    context.notices.note(
      `searched ${countText(read, 'entry')} back to ${utcTime(readFrom)}: ${countText(logs.length, 'match')} of ${count}`,
    );
  return last;
}

/** The commands that resume a tail. */
export interface Resuming {
  /** Resumes at exactly the same position, on this machine; undefined if no checkpoint could be written. */
  readonly here: string | undefined;
  /** Resumes on any machine, without a file. It loses no entry, but may repeat entries of the overlap. */
  readonly elsewhere: string;
  readonly overlapMs: number;
}

export function resumeCommands(
  context: Context,
  input: TailInput,
  { settled, readTo }: TailPosition,
  keep: (file: string) => void,
): Resuming {
  // Nothing settles on a quiet log. A tail that began so long ago would call it a gap, although it was read.
  const since = Math.max(settled, readTo - (input.retention ?? DEFAULT_RETENTION_MS) / 2);
  const file = input.checkpoint ?? keepCheckpoint(context, keep);
  const options = [
    ...filterWords(input),
    ...option('--to', input.to && destinationText(input.to)),
    // A shorter overlap could miss a late entry.
    ...option('--overlap', durationText(input.overlap)),
    ...option('--interval', durationText(input.interval)),
    ...retentionWords(input),
    // Without this, a terminal would hide entries that were shown.
    ...(input.noHideOwnReads ? ['--no-hide-own-reads'] : []),
  ];
  // --hide-own-reads cannot be combined with a checkpoint.
  const hiding = input.hideOwnReads ? ['--hide-own-reads'] : [];
  const command = (start: readonly string[]): string =>
    typedCommand(['logs', 'tail', ...start, ...options], context.globals, context.system);
  return {
    here: file === undefined ? undefined : command(option('--checkpoint', file)),
    elsewhere: command(['--since', isoTime(since), ...hiding]),
    overlapMs: input.overlap ?? DEFAULT_OVERLAP_MS,
  };
}

const KEPT_MS = 7 * DAY_MS;

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
