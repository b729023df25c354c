import { wrapWords } from '../output/text.ts';
import type { Example } from './command.ts';

/** A page of help, as data: text for a terminal and the man page are made from it. */
export interface Page {
  readonly title: string;
  readonly text?: string | undefined;
  readonly sections: readonly Section[];
}

/** A part of a page under a heading; one that holds nothing is left out. */
export interface Section {
  readonly title: string;
  readonly text?: string | undefined;
  readonly examples?: readonly Example[] | undefined;
  readonly rows?: readonly Row[] | undefined;
  /** Words in a row, parted by commas. */
  readonly words?: readonly string[] | undefined;
}

/** A term, and what is said of it. */
export type Row = readonly [term: string, meaning: string];

const INDENT = 2;
const LEAST_WIDTH = 40;
const MOST_WIDTH = 80;
/** Below this, a meaning stands under its term and not beside it, unless all terms are short. */
const BESIDE_FROM = 60;
const MOST_TERM = 32;
const SHORT_TERM = 8;

/** Whether a section has anything to say. */
export function isFilled({ text, examples = [], rows = [], words = [] }: Section): boolean {
  return text !== undefined || examples.length + rows.length + words.length > 0;
}

/** The page as text for a terminal of `columns`, never wider than 80, with a newline at its end. */
export function pageText({ title, text, sections }: Page, columns: number): string {
  const width = Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, columns));
  const head = [
    ...wrapWords(title, width),
    ...(text === undefined ? [] : indented(wrapWords(text, width - INDENT))),
  ];
  const parts = sections.filter(isFilled).map((section) => sectionLines(section, width));
  return `${[head, ...parts].map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function sectionLines(
  { title, text, examples = [], rows = [], words = [] }: Section,
  width: number,
): string[] {
  const room = width - INDENT;
  const lines = [
    ...(text === undefined ? [] : wrapWords(text, room)),
    ...examples.flatMap((example, at) => [...(at === 0 ? [] : ['']), ...exampleLines(example, room)]),
    ...rowLines(rows, room),
    ...(words.length === 0 ? [] : wrapWords(words.join(', '), room)),
  ];
  return [...wrapWords(title, width), ...indented(lines)];
}

function exampleLines([line, does]: Example, room: number): string[] {
  return [...wrapWords(does, room - 2).map((words) => `# ${words}`), ...commandLines(line, room)];
}

/** A command line in pieces that a shell puts together again; a quoted part stays whole. */
function commandLines(line: string, room: number): string[] {
  const words = line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    const begun = last === undefined ? word : `${last} ${word}`;
    // Two columns are kept for the backslash.
    if (last === undefined || begun.length <= room - 2) lines.splice(-1, 1, begun);
    else lines.splice(-1, 1, `${last} \\`, `  ${word}`);
  }
  return lines;
}

function rowLines(rows: readonly Row[], room: number): string[] {
  const width = Math.min(MOST_TERM, Math.max(0, ...rows.map(([term]) => term.length)));
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
