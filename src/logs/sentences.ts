import type { Context } from '../cli/app/command.ts';
import { cleanText, wrapWords } from '../cli/output/text.ts';
import { formatDuration, formatTime, isoTime } from '../cli/output/time.ts';
import { MARKS, type Tone } from '../cli/output/view.ts';
import type { Coverage } from './archive/coverage.ts';
import type { DroppedMonth } from './archive/record.ts';
import type { TimeRange } from './entry.ts';

/** A line of a summary: a sentence, and the tone of what is good or bad. */
export type Sentence = string | readonly [tone: Tone, text: string];

export function sentencesText({ palette, out, marks }: Context, sentences: readonly Sentence[]): string {
  const columns = out.isTerminal ? out.width : Infinity;
  const lines = sentences.flatMap((sentence) => {
    if (typeof sentence === 'string') return wrapWords(cleanText(sentence), columns);
    const [tone, words] = sentence;
    const mark = marks && (tone === 'good' || tone === 'bad') ? MARKS[tone] : '';
    return wrapWords(mark + cleanText(words), columns).map(palette[tone]);
  });
  return `${lines.join('\n')}\n`;
}

export function gapSentence(context: Context, gap: TimeRange): Sentence {
  return ['warn', `gap, entries may be missing: ${rangeText(context, gap)}`];
}

/** A time range in words, with its length. */
export function rangeText(context: Context, { from, to }: TimeRange): string {
  return `${shownTime(context, from)} to ${shownTime(context, to)} (${formatDuration(to - from)})`;
}

export function shownTime({ settings, out, clock }: Pick<Context, 'settings' | 'out' | 'clock'>, at: number): string {
  return formatTime(isoTime(at), settings.time.value ?? (out.isTerminal ? 'local' : 'utc'), clock.now());
}

export function gapText({ from, to }: TimeRange): string {
  return `entries may be missing from ${isoTime(from)} to ${isoTime(to)}`;
}

/** What months held in all. */
export function sumOfMonths(months: readonly DroppedMonth[]): Record<'segments' | 'entries' | 'bytes', number> {
  const sum = { segments: 0, entries: 0, bytes: 0 };
  for (const month of months) for (const name of ['segments', 'entries', 'bytes'] as const) sum[name] += month[name];
  return sum;
}

const MAX_GAPS = 5;

/** Reports which parts of the given range the archive does not cover. `newer`: how to get newer entries, if at all. */
export function reportGaps(
  { notices, clock }: Context,
  { coverage }: { readonly coverage: Coverage },
  { since = -Infinity, until = Infinity }: { since?: number | undefined; until?: number | undefined },
  newer: string | undefined,
): void {
  const gaps = coverage.gaps().filter(({ from, to }) => from < until && to > since);
  for (const gap of gaps.slice(0, MAX_GAPS)) notices.warn(gapText(gap));
  if (gaps.length > MAX_GAPS) notices.warn(`and in ${gaps.length - MAX_GAPS} further gaps`);
  const covered = coverage.covered();
  const begin = covered[0]?.from;
  const end = covered.at(-1)?.to;
  if (begin === undefined || end === undefined) return notices.note('the archive covers no time yet');
  if (since !== -Infinity && since < begin)
    notices.note(
      `the archive begins at ${isoTime(begin)}${coverage.drops.length > 0 ? ' (older months were dropped by retention)' : ''}`,
    );
  if (newer !== undefined && Math.min(until, clock.now()) > end)
    notices.note(`the archive ends at ${isoTime(end)}; ${newer}`);
}
