import type { Client } from '../../api/client.ts';
import type { Context } from '../../app/command.ts';
import { wholeSecond } from '../../logs/entry.ts';
import type { TailOptions } from '../../logs/follow.ts';
import type { LastEntries } from '../../logs/last-entries.ts';
import { beginAt, type TailPosition } from '../../logs/position.ts';
import { countText, isoTime, parseTime } from '../../output/time.ts';
import { type EntityInput, entityFilter, type EntryInput, matches } from './entries.ts';

interface LastInput extends EntryInput, EntityInput {
  readonly last: number | undefined;
  readonly follow: boolean;
  readonly for: number | undefined;
  readonly idleExit: number | undefined;
  readonly overlap: number | undefined;
  readonly retention: number | undefined;
}

/** Whether a program wants the last entries and nothing that follows. */
export function endsAtPresent({ out }: Context, input: LastInput): boolean {
  const goesOn = input.follow || input.for !== undefined || input.idleExit !== undefined;
  return input.last !== undefined && !goesOn && !out.isTerminal;
}

/** Where a tail resumes as long as they are not written. */
export function before({ logs: [first], position }: LastEntries): TailPosition {
  const at = parseTime(first?.created_at ?? '');
  return at === undefined ? position : beginAt(wholeSecond(at));
}

/** So many entries are read back to find the last ones that match. */
const MAX_READ_BACK = 20_000;

/** The entries that a tail begins with, where it is to. @throws SvcError */
export async function readLast(
  context: Context,
  client: Client,
  input: LastInput,
  onEvent: TailOptions['onEvent'],
): Promise<LastEntries | undefined> {
  const { last: count } = input;
  if (count === undefined) return undefined;
  const [{ lastEntries }, { serviceLogs }, { DEFAULT_OVERLAP_MS, DEFAULT_RETENTION_MS }] = await Promise.all([
    import('../../logs/last-entries.ts'),
    import('../../logs/read-range.ts'),
    import('../../logs/entry.ts'),
  ]);
  const last = await lastEntries(serviceLogs(client, entityFilter(input)), {
    count,
    mostRead: MAX_READ_BACK,
    overlapMs: input.overlap ?? DEFAULT_OVERLAP_MS,
    retentionMs: input.retention ?? DEFAULT_RETENTION_MS,
    keep: (log) => matches(log, input),
    onEvent: endsAtPresent(context, input) ? undefined : onEvent,
  });
  const { logs, read, readFrom } = last;
  if (logs.length < count && readFrom > 0)
    context.notices.note(
      `searched ${countText(read, 'entry')} back to ${isoTime(readFrom)}: ${countText(logs.length, 'match')} of ${count}`,
    );
  return last;
}
