// Renders help pages as text. The parser's own help does not wrap in a narrow terminal, and man pages need pages as data.

import { wrapWords } from '../output/wrap.ts';
import type { Example } from './command.ts';
import { isFilled, type Page, type Row, type Section } from './topics.ts';

const INDENT = 2;
const MIN_WIDTH = 40;
const MAX_WIDTH = 100;
/** In a terminal narrower than this, descriptions stand below their terms, unless all terms are short. */
const BESIDE_FROM = 60;
const MAX_TERM = 32;
const SHORT_TERM = 8;

/** Renders a page as text for a terminal of `columns`, at most 100 wide, with a final newline. */
export function pageText({ title, text, sections }: Page, columns: number): string {
  const width = Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, columns));
  const head = [...wrapWords(title, width), ...(text === undefined ? [] : indented(wrapWords(text, width - INDENT)))];
  const filled = sections.filter(isFilled);
  // Sections of one line stand below each other without an empty line.
  const parts = filled.map(
    (section, at) =>
      `${section.line !== undefined && filled[at - 1]?.line !== undefined ? '' : '\n'}${sectionText(section, width)}\n`,
  );
  return `${head.join('\n')}\n${parts.join('')}`;
}

function sectionText({ title, line, text, examples = [], rows = [] }: Section, width: number): string {
  const room = width - INDENT;
  if (line !== undefined) return wrapWords(`${title}: ${line}`, room).join(`\n${' '.repeat(INDENT)}`);
  const lines = [
    ...(text === undefined ? [] : wrapWords(text, room)),
    ...exampleLines(examples, room),
    ...rowLines(rows, room),
  ];
  return [...wrapWords(title, width), ...indented(lines)].join('\n');
}

/** Puts the description of each example above the command, not as a comment: some shells would run a pasted `# …`. */
function exampleLines(examples: readonly Example[], room: number): string[] {
  return examples.flatMap(([line, does]) => [
    ...wrapWords(`${does}:`, room),
    ...indented(commandLines(line, room - INDENT)),
  ]);
}

/** Breaks a command line with backslashes. Quoted parts stay whole. */
function commandLines(line: string, room: number): string[] {
  const words = line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    const longer = last === undefined ? word : `${last} ${word}`;
    // Two columns remain free for the backslash.
    if (last === undefined || longer.length <= room - 2) lines.splice(-1, 1, longer);
    else lines.splice(-1, 1, `${last} \\`, `  ${word}`);
  }
  return lines;
}

function rowLines(rows: readonly Row[], room: number): string[] {
  const width = Math.min(MAX_TERM, Math.max(0, ...rows.map(([term]) => term.length)));
  const isBeside = width <= SHORT_TERM || room + INDENT >= BESIDE_FROM;
  return rows.flatMap(([term, meaning]) => {
    if (meaning === '') return wrapWords(term, room);
    const margin = ' '.repeat(isBeside ? width + 2 : 4);
    const lines = wrapWords(meaning, room - margin.length).map((line) => margin + line);
    if (!isBeside || term.length > width) return [...wrapWords(term, room), ...lines];
    return [term.padEnd(margin.length) + (lines[0] ?? '').trimStart(), ...lines.slice(1)];
  });
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => (line === '' ? '' : ' '.repeat(INDENT) + line));
}
