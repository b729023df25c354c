// Draws the findings of svc doctor for people.

import type { Context } from '../../cli/app/command.ts';
import { cleanText } from '../../cli/output/text.ts';
import { hangingIndent, wrapWords } from '../../cli/output/wrap.ts';
import type { Tone } from '../../cli/output/view.ts';
import type { Finding, Result } from './check.ts';
import type { Verdict } from './verdict.ts';

/** A finding, with the next command as a command line. */
export type FindingRow = Omit<Finding, 'next'> & {
  readonly next: string | null;
  /** Whose move it is; null except in the row of the verdict. */
  readonly move: Verdict['move'] | null;
};

/** Draws the verdict, which stands above the findings for readers with little time. */
export function drawVerdict({ text, move }: Verdict, { palette, out, plain }: Context): string {
  const lines = plain ? [cleanText(text)] : wrapWords(cleanText(text), out.isTerminal ? out.width : 80);
  return `${lines.map((line) => (move === 'nobody' ? palette.strong(line) : palette.bad(line))).join('\n')}\n\n`;
}

/** The minimum width of a text after its indent. */
const MIN_TEXT_COLUMNS = 20;

/** The word, color and sign of each result. The color says nothing that the word or sign does not say. */
const MARKS: Readonly<Record<Result, readonly [word: string, tone: Tone, sign: string]>> = {
  ok: ['ok', 'good', '✓'],
  warning: ['warn', 'warn', '!'],
  failed: ['FAIL', 'bad', '✗'],
  skipped: ['-', 'quiet', '-'],
};

/** Draws one line for each finding, with its fix below. */
export function drawFindings(findings: readonly FindingRow[], context: Context): string {
  if (context.plain) return findings.map(sentence).join('');
  const { palette, out, unicode, marks } = context;
  const columns = out.isTerminal ? out.width : 80;
  const markWidth = marks ? 1 : 4;
  const indent = markWidth + 4 + Math.max(0, ...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, result, found, fix, next }) => {
    const [word, tone, sign] = MARKS[result];
    const mark = palette[tone]((marks ? sign : word).padEnd(markWidth));
    const lead = `${mark}  ${check.padEnd(indent - markWidth - 2)}`;
    const advice = fix === null ? [] : wrapWords(fix, Math.max(MIN_TEXT_COLUMNS, columns - indent - 2));
    return [
      hangingIndent(lead, indent, cleanText(found), columns),
      ...advice.map((line, at) => ' '.repeat(indent) + palette.strong((at > 0 ? '  ' : unicode ? '→ ' : '> ') + line)),
      ...(next === null ? [] : [`${' '.repeat(indent + 2)}${palette.accent(next)}`]),
    ];
  });
  return `${lines.join('\n')}\n`;
}

/** Formats a finding with its fix as one sentence, for a screen reader. */
function sentence({ check, result, found, fix, next }: FindingRow): string {
  const what = `${check}: ${result}: ${cleanText(found)}`;
  const advice = fix === null ? '' : `. Fix: ${fix}`;
  return `${what}${advice}${next === null ? '' : ` Next: ${next}`}\n`;
}
