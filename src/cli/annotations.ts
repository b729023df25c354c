import path from 'node:path';
import type { Duplicate, Problem, RequestFileCheck, Rule } from '../csv/request-file.ts';
import { cleanText } from '../render/clean.ts';
import type { Context } from './context.ts';
import { resolvePath } from './files.ts';

/** Rules whose own words may quote what stands in the file: a log of CI is read by many. */
const WITHOUT_VALUE: Readonly<Partial<Record<Rule, string>>> = {
  year: 'this is not a year of 2 digits',
  month: 'this is not a month from 01 to 12',
  header_unknown_column: 'the header names a column that may not stand there',
};

/**
 * On GitHub Actions, puts what is wrong with a request file beside its lines, as other checkers do there. Added to
 * what is said anyway, so that nothing that reads the output has to know. Never with a value of the file.
 */
export function annotate(
  context: Pick<Context, 'system' | 'notices'>,
  typed: string,
  { problems, duplicates }: Pick<RequestFileCheck, 'problems' | 'duplicates'>,
): void {
  const { system, notices } = context;
  if (system.env['GITHUB_ACTIONS'] !== 'true' || typed === '-') return;
  const file = placeIn(context, typed);
  const errors = problems.map((problem) => commandLine('error', file, problem.line, wordsOf(problem)));
  const warnings = duplicates.first.map((found) => commandLine('warning', file, found.line, twinOf(found)));
  const lines = [...errors, ...warnings];
  if (lines.length > 0) notices.report(lines.join(''));
}

/** A warning that stands out on GitHub Actions, beside the one on stderr. */
export function annotateWarning(
  { system, notices }: Pick<Context, 'system' | 'notices'>,
  text: string,
): void {
  notices.warn(text);
  if (system.env['GITHUB_ACTIONS'] === 'true')
    notices.report(`::warning title=svc au submit::${escapeData(cleanText(text))}\n`);
}

function wordsOf({ column, problem, rule }: Problem): string {
  const words = WITHOUT_VALUE[rule] ?? problem;
  return column === undefined ? words : `${column}: ${words}`;
}

function twinOf({ firstLine }: Duplicate): string {
  return `token: the same as on line ${firstLine}`;
}

/** The path as GitHub has it: from the root of the repository, where the file lies in it. */
function placeIn(context: Pick<Context, 'system'>, typed: string): string {
  const { cwd, env } = context.system;
  const file = resolvePath(context, typed);
  const root = env['GITHUB_WORKSPACE'];
  const inRoot = root ? path.relative(root, file) : '..';
  const place = inRoot.startsWith('..') || path.isAbsolute(inRoot) ? path.relative(cwd, file) : inRoot;
  return place.split(path.sep).join('/');
}

function commandLine(kind: 'error' | 'warning', file: string, line: number, text: string): string {
  const place = `file=${escapeProperty(file)},line=${line},title=svc au check`;
  return `::${kind} ${place}::${escapeData(cleanText(text))}\n`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(cleanText(text)).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
