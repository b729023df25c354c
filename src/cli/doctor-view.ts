import type { Finding, Result } from '../doctor/finding.ts';
import { cleanText } from '../render/clean.ts';
import type { Tone, View } from '../render/view.ts';
import type { Context } from './context.ts';

/** How findings are shown in machine formats, and in a table of chosen fields. */
export const findingView: View<Finding> = {
  name: 'finding',
  fields: ['check', 'result', 'found', 'mend', 'code'],
  columns: [
    { path: 'check', kind: 'text' },
    { path: 'result', kind: 'status' },
    { path: 'found', kind: 'text' },
  ],
};

// The word tells, the colour only helps.
const MARKS: Readonly<Record<Result, readonly [mark: string, tone: Tone]>> = {
  ok: ['ok  ', 'good'],
  warning: ['warn', 'warn'],
  failed: ['FAIL', 'bad'],
  skipped: ['-   ', 'quiet'],
};

/** Findings for people: a line each, and beneath one that is not well what to do. */
export function drawFindings(findings: readonly Finding[], context: Context): string {
  if (context.plain) return findings.map(sentence).join('');
  const { palette, out, unicode } = context;
  const names = Math.max(0, ...findings.map(({ check }) => check.length)) + 2;
  const width = (out.isTerminal ? out.width : 80) - names - 6;
  const arrow = unicode ? '→ ' : '> ';
  const indent = ' '.repeat(names + 6);
  return findings
    .flatMap(({ check, result, found, mend }) => {
      const [mark, tone] = MARKS[result];
      const [first = '', ...more] = wrap(cleanText(found), width);
      const told = mend === null ? [] : wrap(arrow + mend, width);
      const paint = (line: string): string => (result === 'skipped' ? palette.quiet(line) : line);
      return [
        `${palette[tone](mark)}  ${paint(check.padEnd(names) + first)}`,
        ...more.map((line) => indent + paint(line)),
        ...told.map((line, at) => indent + (at === 0 ? '' : '  ') + palette.strong(line)),
      ];
    })
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

// For a screen reader, which reads a finding from its name to its mend.
function sentence({ check, result, found, mend }: Finding): string {
  const what = `${check}: ${result}: ${cleanText(found)}`;
  return mend === null ? `${what}\n` : `${what}. To mend it: ${mend}\n`;
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > Math.max(width, 20)) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
