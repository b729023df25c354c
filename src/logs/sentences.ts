import type { Context } from '../cli/app/command.ts';
import { cleanText, wrapWords } from '../cli/output/text.ts';
import { formatDuration, formatTime, isoTime } from '../cli/output/time.ts';
import { MARKS, type Tone } from '../cli/output/view.ts';
import type { DroppedMonth } from './archive/record.ts';
import type { TimeRange } from './entry.ts';

/** A line of a summary: a sentence, optionally with a tone that colors it as good or bad. */
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

/** Returns a time range in words, with its length. */
export function rangeText(context: Context, { from, to }: TimeRange): string {
  return `${shownTime(context, from)} to ${shownTime(context, to)} (${formatDuration(to - from)})`;
}

export function shownTime({ settings, out, clock }: Pick<Context, 'settings' | 'out' | 'clock'>, at: number): string {
  return formatTime(isoTime(at), settings.time.value ?? (out.isTerminal ? 'local' : 'utc'), clock.now());
}

/** Sums the counts of dropped months. */
export function sumOfMonths(months: readonly DroppedMonth[]): Record<'segments' | 'entries' | 'bytes', number> {
  const sum = { segments: 0, entries: 0, bytes: 0 };
  for (const { segments, entries, bytes } of months) {
    sum.segments += segments;
    sum.entries += entries;
    sum.bytes += bytes;
  }
  return sum;
}
