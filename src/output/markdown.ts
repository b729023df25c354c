import { cleanText } from './text.ts';

/** What a summary says. Every text may hold anything: it is escaped here. */
export interface Summary {
  readonly title: string;
  readonly facts: readonly (readonly [label: string, value: string])[];
  readonly head?: readonly string[] | undefined;
  readonly rows?: readonly (readonly string[])[] | undefined;
  /** Commands to run next, ready to be pasted. */
  readonly commands?: readonly string[] | undefined;
}

/** CI systems refuse a summary beyond a megabyte, and nobody reads a long one. */
const MOST_ROWS = 200;
const LONGEST = 4_000;

/** A summary as Markdown: a heading, a list, a table and a block of commands. */
export function markdownOf({ title, facts, head, rows = [], commands = [] }: Summary, redact: Redact): string {
  const cell = (value: string): string => escaped(redact(value));
  const lines = [
    `### ${cell(title)}`,
    '',
    ...facts.map(([label, value]) => `- **${cell(label)}**: ${cell(value)}`),
    '',
  ];
  if (head !== undefined && rows.length > 0) {
    const shown = [head, head.map(() => ''), ...rows.slice(0, MOST_ROWS)].map((cells) => cells.map(cell));
    lines.push(...shown.map((cells, at) => `| ${(at === 1 ? cells.map(() => '---') : cells).join(' | ')} |`), '');
  }
  if (rows.length > MOST_ROWS) lines.push(`${rows.length - MOST_ROWS} more rows are not shown.`, '');
  if (commands.length > 0) lines.push('```sh', ...commands.map((line) => cleanText(redact(line))), '```', '');
  return `${lines.join('\n')}\n`;
}

type Redact = (text: string) => string;

// As an entity, a sign is text wherever it stands: it ends no cell, opens no tag and makes no link.
const SIGNS = /[#$&*<>@[\\\]^`{|}~]|:(?=\/)|(?<=www)\.|(?<![a-z0-9])_|_(?![a-z0-9])/gi;

function escaped(text: string): string {
  const clean = cleanText(text);
  const cut = clean.length > LONGEST ? `${clean.slice(0, LONGEST)}…` : clean;
  return cut.replaceAll(SIGNS, (sign) => `&#${sign.charCodeAt(0)};`);
}
