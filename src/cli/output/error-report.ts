import { causesOf, type SvcError } from '../../base/errors.ts';
import { jsonLine } from './formats.ts';
import { cleanText } from './text.ts';
import { wrapWords } from './wrap.ts';
import { formatNumber } from './number.ts';
import { type Palette, plainPalette } from './view.ts';

/** The style of an error report. */
export interface ReportStyle {
  /** One JSON object on one line, for a program, instead of lines for a person. */
  readonly machine: boolean;
  /** Adds the stacks of the error and its causes. */
  readonly debug: boolean;
  /** The words of the command that failed, for the machine form. */
  readonly command?: string | undefined;
  /** The profile that failed, with `--profiles`. */
  readonly profile?: string | undefined;
  readonly palette?: Palette | undefined;
  /** Columns of the terminal; without it lines are not wrapped. */
  readonly columns?: number | undefined;
  /** Returns the next command as a command line, with options for the same service. */
  readonly writeCommand?: ((words: readonly string[]) => string) | undefined;
  /** Returns the next command as words, with options for the same service. */
  readonly wordsOf?: ((words: readonly string[]) => readonly string[]) | undefined;
}

/** Formats a failure for stderr, safe for a terminal, with a newline. The output stream redacts secrets later. */
export function reportError(error: SvcError, style: ReportStyle): string {
  return style.machine ? forProgram(error, style) : forPerson(error, style);
}

function forProgram(error: SvcError, style: ReportStyle): string {
  const next = nextOf(error, style);
  const report = {
    code: error.code,
    message: error.message,
    status: error.status,
    hint: error.hint,
    next: next[0],
    next_words: nextWordsOf(error, style),
    alternatives: next.length > 1 ? next.slice(1) : undefined,
    retryable: error.retryable,
    exit_code: error.exitCode,
    request_id: error.requestId,
    command: style.command,
    profile: style.profile,
  };
  const stacks = style.debug ? { stack: stacksOf(error) } : {};
  // The fixed members are listed twice: once to come first, once so that no fact replaces them.
  try {
    return `${jsonLine({ ...report, ...error.facts, ...report, ...stacks })}\n`;
  } catch {
    // A fact that cannot be written as JSON must not hide the error.
    return `${jsonLine({ ...report, ...stacks })}\n`;
  }
}

function forPerson(error: SvcError, style: ReportStyle): string {
  const { palette = plainPalette, debug } = style;
  const { code, message, hint, requestId, facts } = error;
  // A terminal that does not know its size has 0 columns.
  const columns = style.columns || Infinity;
  const subject = style.profile === undefined ? '' : `${style.profile}: `;
  const text = fitted(subject + message, columns);
  // Not shown as errors: Ctrl-C and "no", which are the operator's decisions, and the findings of a review.
  const isDecision = code === 'interrupted' || code === 'declined';
  const isFinding = code === 'threshold' && facts?.['findings'] !== undefined;
  const lines = [isDecision || isFinding ? text : `${palette.bad('error:')} ${text}`];
  for (const problem of problemsOf(error)) lines.push(`  ${fitted(problem, columns, '    ')}`);
  if (hint !== undefined) lines.push(`${palette.strong('hint:')} ${fitted(hint, columns)}`);
  const next = nextOf(error, style);
  if (next.length > 0 && hint === undefined) lines.push(palette.strong('next:'));
  lines.push(...next.map((command) => `  ${cleanText(command)}`));
  if (requestId !== undefined) lines.push(`request id: ${cleanText(requestId)}`);
  if (debug) lines.push(...stacksOf(error).map((stack) => palette.quiet(cleanText(stack, 'keep'))));
  return `${lines.join('\n')}\n`;
}

function nextOf({ commands }: SvcError, { writeCommand }: ReportStyle): string[] {
  return commands.map((words) => writeCommand?.(words) ?? ['svc', ...words].join(' '));
}

/** Returns the words of the next command, so that a program can run it without a shell. */
function nextWordsOf({ commands }: SvcError, { wordsOf }: ReportStyle): readonly string[] | undefined {
  const [first] = commands;
  return first && (wordsOf?.(first) ?? ['svc', ...first]);
}

const LEAD = 'error: '.length;

// Further lines are indented, so that text from the service cannot imitate a message of svc.
function fitted(text: string, columns: number, indent = '  '): string {
  const lines = cleanText(text, 'keep').split('\n');
  const fitting = lines.flatMap((line) => (line.length + LEAD <= columns ? [line] : wrapWords(line, columns - LEAD)));
  return fitting.join(`\n${indent}`);
}

/** Returns the first problems of an error, one per line, then the number of further problems. */
export function problemsOf(error: SvcError): readonly string[] {
  const problems = error.facts?.['problems'];
  if (!Array.isArray(problems)) return [];
  const lines = problems.map(problemLine);
  const shown = problems.reduce<number>((sum, problem) => sum + Number(membersOf(problem).get('count') ?? 1), 0);
  const more = Number(error.facts?.['problem_count'] ?? shown) - shown;
  return more > 0 ? [...lines, `and ${more} more`] : lines;
}

/**
 * Formats a problem: a sentence, which may come with its location, such as a line and column of a file, several lines of the
 * same shape, or a path in a request body.
 */
export function problemLine(problem: unknown): string {
  if (typeof problem === 'string') return problem;
  const members = membersOf(problem);
  const sentence = members.get('problem');
  if (typeof sentence !== 'string') return jsonLine(problem);
  const place = [lineNumbers(members), members.get('column'), members.get('path')];
  const words = place.filter((part) => typeof part === 'string');
  return words.length === 0 ? sentence : `${words.join(', ')}: ${sentence}`;
}

function membersOf(problem: unknown): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(problem ?? {}));
}

/** Returns `line 2`, or for a group of lines `50,000 rows like "Aaa-99" (lines 2, 7, 12, …)`. */
function lineNumbers(problem: ReadonlyMap<string, unknown>): unknown {
  const line = problem.get('line');
  const shape = problem.get('shape');
  const like = typeof shape === 'string' ? ` like "${shape}"` : '';
  const lines = problem.get('lines');
  const count = Number(problem.get('count') ?? 1);
  if (!Array.isArray(lines) || count === 1)
    return typeof line === 'number' ? `line ${line}${like === '' ? '' : `,${like}`}` : line;
  const first = lines.map((each) => formatNumber(Number(each))).join(', ');
  return `${formatNumber(count)} rows${like} (lines ${first}${count > lines.length ? ', …' : ''})`;
}

function stacksOf(error: SvcError): string[] {
  return causesOf(error).map((each) => each.stack ?? String(each));
}
