import fs from 'node:fs';
import { isSvcError, type SvcError, writeFailure } from '../../base/errors.ts';
import { cleanText } from '../output/text.ts';
import type { Context } from './command.ts';
import { nextCommand, warnOf, withHint } from './hint.ts';
import { value, writing } from './parameter.ts';
import { requireFile, resolvePath } from './files/typed-path.ts';
import { text } from './value-parsers.ts';

export const summaryParameter = writing(value('--summary <file>', 'append a Markdown summary to this file', text));

/**
 * Runs the work and appends its outcome to the summary. After an error, adds the reason and the commands to run next.
 */
export type Summarize = (
  work: () => Promise<void>,
  describe: (error: unknown) => Promise<Summary> | Summary,
) => Promise<void>;

/**
 * Finds the summary file, from `--summary` or the CI job, before any request. The summary is written after the paid
 * work is done, so a failed write is only a warning.
 */
export async function openSummary(context: Context, named: string | undefined): Promise<Summarize> {
  const target = named ?? context.system.env['GITHUB_STEP_SUMMARY'];
  if (!target) return (work) => work();
  const file = resolvePath(context, target);
  if (named !== undefined) await requireFile(file, true);
  return async (work, describe) => {
    let error: unknown;
    try {
      await work();
    } catch (caught) {
      error = caught;
      throw caught;
    } finally {
      const summary = await describe(error);
      append(context, file, isSvcError(error) ? { ...summary, ...outcome(error, summary.facts, context) } : summary);
    }
  };
}

function outcome(error: SvcError, facts: Summary['facts'], { globals, system }: Context): Partial<Summary> {
  const reason = withHint(error);
  const commands = error.commands.map((words) => nextCommand(words, globals, system));
  return { facts: [...facts, ['reason', reason]], commands };
}

function append(context: Context, file: string, summary: Summary): void {
  const markdown = markdownOf(summary, (line) => context.out.redact(line));
  // Without O_NONBLOCK, opening a pipe without a reader would block the command.
  const { O_APPEND, O_CREAT, O_WRONLY, O_NONBLOCK } = fs.constants;
  try {
    const descriptor = fs.openSync(file, O_APPEND | O_CREAT | O_WRONLY | O_NONBLOCK, 0o600);
    try {
      fs.writeFileSync(descriptor, markdown);
    } finally {
      fs.closeSync(descriptor);
    }
  } catch (error) {
    warnOf(context, 'the summary was not written', writeFailure(file, error));
  }
}

/** The content of a summary. Its texts may contain any characters, and `markdownOf` escapes them. */
export interface Summary {
  readonly title: string;
  readonly facts: readonly (readonly [label: string, value: string])[];
  readonly head?: readonly string[] | undefined;
  readonly rows?: readonly (readonly string[])[] | undefined;
  /** Commands to run next, ready to paste into a shell. */
  readonly commands?: readonly string[] | undefined;
}

/** The largest number of table rows. CI systems reject summaries larger than a megabyte. */
const MOST_ROWS = 200;
const LONGEST = 4_000;

/** Returns a summary as Markdown: a heading, a list, a table and a block of commands. */
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

// As entities, these signs cannot end a table cell, open a tag or start a link.
const SIGNS = /[#$&*<>@[\\\]^`{|}~]|:(?=\/)|(?<=www)\.|(?<![a-z0-9])_|_(?![a-z0-9])/gi;

function escaped(text: string): string {
  const clean = cleanText(text);
  const cut = clean.length > LONGEST ? `${clean.slice(0, LONGEST)}…` : clean;
  return cut.replaceAll(SIGNS, (sign) => `&#${sign.charCodeAt(0)};`);
}
