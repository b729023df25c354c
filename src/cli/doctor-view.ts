import type { Finding, Result } from '../doctor/finding.ts';
import { cleanText } from '../render/clean.ts';
import type { Tone, View } from '../render/view.ts';
import { wrapWords } from '../render/wrap.ts';
import type { Context } from './context.ts';

/** How findings are shown in machine formats, and in a table of chosen fields. */
export const findingView: View<Finding> = {
  name: 'finding',
  fields: ['check', 'result', 'found', 'fix', 'code'],
  columns: [
    { path: 'check', kind: 'text' },
    { path: 'result', kind: 'status' },
    { path: 'found', kind: 'text' },
  ],
};

const NARROWEST = 24;

// Color never stands alone: the word says the same.
const MARKS: Readonly<Record<Result, readonly [mark: string, tone: Tone]>> = {
  ok: ['ok  ', 'good'],
  warning: ['warn', 'warn'],
  failed: ['FAIL', 'bad'],
  skipped: ['-   ', 'quiet'],
};

/** Findings for people: a line each, with the fix below it. */
export function drawFindings(findings: readonly Finding[], context: Context): string {
  if (context.plain) return findings.map(sentence).join('');
  const { palette, out, unicode } = context;
  const names = Math.max(0, ...findings.map(({ check }) => check.length)) + 2;
  const columns = out.isTerminal ? out.width : 80;
  // Where hardly anything fits beside the name, the text goes below it.
  const beside = columns - names - 6 >= NARROWEST;
  const indent = ' '.repeat(beside ? names + 6 : 6);
  const width = columns - indent.length;
  const arrow = unicode ? '→ ' : '> ';
  return findings
    .flatMap(({ check, result, found, fix }) => {
      const [mark, tone] = MARKS[result];
      const lines = wrapWords(cleanText(found), width);
      const [first = '', ...more] = beside ? lines : ['', ...lines];
      const advice = fix === null ? [] : wrapWords(fix, width - 2);
      const paint = (line: string): string => (result === 'skipped' ? palette.quiet(line) : line);
      return [
        `${palette[tone](mark)}  ${paint(check.padEnd(names) + first)}`,
        ...more.map((line) => indent + paint(line)),
        ...advice.map((line, at) => indent + palette.strong((at === 0 ? arrow : '  ') + line)),
      ];
    })
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

// For a screen reader: name, result and fix in one sentence.
function sentence({ check, result, found, fix }: Finding): string {
  const what = `${check}: ${result}: ${cleanText(found)}`;
  return fix === null ? `${what}\n` : `${what}. Fix: ${fix}\n`;
}
