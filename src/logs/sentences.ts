// Sentences that several log commands print.

import type { Context } from '../cli/app/command.ts';
import { cleanText } from '../cli/output/text.ts';
import { wrapWords } from '../cli/output/wrap.ts';
import { formatDuration, formatTime, isoTime, utcTime } from '../cli/output/time.ts';
import { MARKS, type Tone } from '../cli/output/view.ts';
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

/** Returns a warning about a gap, with times that do not depend on the settings. */
export function gapText({ from, to }: TimeRange): string {
  return `entries may be missing from ${utcTime(from)} to ${utcTime(to)}`;
}

/** Returns a time range in words, with its length. */
export function rangeText(context: Context, { from, to }: TimeRange): string {
  return `${shownTime(context, from)} to ${shownTime(context, to)} (${formatDuration(to - from)})`;
}

export function shownTime({ settings, out, clock }: Pick<Context, 'settings' | 'out' | 'clock'>, at: number): string {
  return formatTime(isoTime(at), settings.time.value ?? (out.isTerminal ? 'local' : 'utc'), clock.now());
}
