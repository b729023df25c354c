import path from 'node:path';
import type { Context } from '../../cli/app/command.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { cleanText } from '../../cli/output/text.ts';
import type { refusedBy } from './implausible-file.ts';
import type { Problem, RequestFileCheck, Rule } from './request-file.ts';

/**
 * The rules whose own messages may quote the file. An annotation omits the quote, because a CI log has many readers.
 */
const WITHOUT_VALUE: Readonly<Partial<Record<Rule, string>>> = {
  year: 'this is not a year of 2 digits',
  month: 'this is not a month from 01 to 12',
  header_unknown_column: 'the header names an unknown column',
};

/** Adds the problems of a request file as annotations to its lines on GitHub Actions, without any value of the file. */
export function annotate(
  context: Context,
  typed: string,
  { problems, duplicates, attachedDigits }: RequestFileCheck,
): void {
  annotateLines(context, typed, [
    ...problems.map((problem) => ({ line: problem.line, words: wordsOf(problem) })),
    ...duplicates.first.map(({ line, firstLine }) => ({
      level: 'warning' as const,
      line,
      words: `the token and merchant of line ${firstLine}: the row is left out`,
    })),
    ...attachedDigits.first.map((line) => ({
      level: 'warning' as const,
      line,
      words: 'digits that begin or end like a card number',
    })),
  ]);
}

/** Adds what a whole file contradicts as annotations: rows to their lines, doubts to the file. */
export function annotateImplausible(
  context: Context,
  typed: string,
  { rows, whole }: ReturnType<typeof refusedBy>,
): void {
  annotateLines(context, typed, [
    ...rows.map((problem) => ({ line: problem.line, words: wordsOf(problem) })),
    ...whole.map(({ problem }) => ({ words: problem })),
  ]);
}

interface Annotation {
  /** Default: an error. */
  readonly level?: 'warning';
  /** Default: the file has the annotation. */
  readonly line?: number;
  readonly words: string;
}

function annotateLines(context: Context, typed: string, annotations: readonly Annotation[]): void {
  const { system, notices } = context;
  if (system.env['GITHUB_ACTIONS'] !== 'true' || typed === '-' || annotations.length === 0) return;
  const file = escapeData(pathInRepository(context, typed)).replaceAll(':', '%3A').replaceAll(',', '%2C');
  const lines = annotations.map(({ level = 'error', line, words }) => {
    const place = line === undefined ? '' : `,line=${line}`;
    return `::${level} file=${file}${place},title=svc au check::${escapeData(words)}\n`;
  });
  notices.report(lines.join(''));
}

/** Warns on stderr, or on GitHub Actions with an annotation, which the job's page shows. */
export function annotateWarning({ system, notices }: Pick<Context, 'system' | 'notices'>, text: string): void {
  if (system.env['GITHUB_ACTIONS'] !== 'true') return notices.warn(text);
  notices.report(`::warning title=svc au submit::${escapeData(text)}\n`);
}

function wordsOf({ column, problem, rule }: Problem): string {
  const words = WITHOUT_VALUE[rule] ?? problem;
  return column === undefined ? words : `${column}: ${words}`;
}

/** Returns the path relative to the root of the repository, as GitHub expects it, if the file is in the repository. */
function pathInRepository(context: Pick<Context, 'system'>, typed: string): string {
  const { cwd, env } = context.system;
  const file = resolvePath(context, typed);
  const root = env['GITHUB_WORKSPACE'];
  const inRoot = root ? path.relative(root, file) : '..';
  const shown = inRoot.startsWith('..') || path.isAbsolute(inRoot) ? path.relative(cwd, file) : inRoot;
  return shown.split(path.sep).join('/');
}

function escapeData(text: string): string {
  return cleanText(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
