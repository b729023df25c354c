import { causesOf, EXIT_CODES, memoryFailure, SvcError, systemCodeOf } from '../../base/errors.ts';
import { ownMember } from '../../schema/own-member.ts';
import { jsonLine } from './formats.ts';
import { cleanText, wrapWords } from './text.ts';
import { formatNumber } from './time.ts';
import { type Palette, plainPalette } from './view.ts';

/** The style of an error report. */
export interface ReportStyle {
  /** One JSON object on one line, for a program, instead of lines for a person. */
  readonly machine: boolean;
  /** Adds the stacks of the error and its causes. */
  readonly debug: boolean;
  /** The words of the command that failed, for the machine form. */
  readonly command?: string | undefined;
  /** The profile that failed, where there are several. */
  readonly profile?: string | undefined;
  readonly palette?: Palette | undefined;
  /** Columns of the terminal; without it lines are not wrapped. */
  readonly columns?: number | undefined;
  /** Writes out the next command, with the service that this command named. */
  readonly writeCommand?: ((words: readonly string[]) => string) | undefined;
  /** Returns the words of the next command, with the service that this command named. */
  readonly wordsOf?: ((words: readonly string[]) => readonly string[]) | undefined;
}

/** Formats a failure for stderr, safe for a terminal, with a newline. The output redacts it. */
export function reportError(error: unknown, style: ReportStyle): string {
  return style.machine ? forProgram(error, style) : forPerson(error, style);
}

function forProgram(error: unknown, style: ReportStyle): string {
  const known = failureOf(error);
  const next = nextOf(known, style);
  const report = {
    code: known.code,
    message: known.message,
    status: known.status,
    hint: known.hint,
    next: next[0],
    next_words: nextWordsOf(known, style),
    alternatives: next.length > 1 ? next.slice(1) : undefined,
    retryable: known.retryable,
    exit_code: EXIT_CODES[known.code],
    request_id: known.requestId,
    command: style.command,
    profile: style.profile,
  };
  const stacks = style.debug ? { stack: stacksOf(error) } : {};
  // The fixed members are listed twice, so that they come first and no fact can replace one.
  try {
    return `${jsonLine({ ...report, ...known.facts, ...report, ...stacks })}\n`;
  } catch {
    // A fact that cannot be written as JSON must not hide the error.
    return `${jsonLine({ ...report, ...stacks })}\n`;
  }
}

function forPerson(error: unknown, style: ReportStyle): string {
  const { palette = plainPalette, debug } = style;
  // A terminal that does not know its size has 0 columns.
  const columns = style.columns || Infinity;
  const known = failureOf(error);
  const subject = style.profile === undefined ? '' : `${style.profile}: `;
  const text = fitted(subject + known.message, columns);
  // Ctrl-C and a no are the operator's own decisions, and findings are what a review is for: none is an error.
  const isDecision = known.code === 'interrupted' || known.code === 'declined';
  const isFinding = known.code === 'threshold' && known.facts?.['findings'] !== undefined;
  const lines = [isDecision || isFinding ? text : `${palette.bad('error:')} ${text}`];
  for (const problem of problemsOf(known)) lines.push(`  ${fitted(problem, columns, '    ')}`);
  const { hint } = known;
  if (hint !== undefined) lines.push(`${palette.strong('hint:')} ${fitted(hint, columns)}`);
  const next = nextOf(known, style);
  if (next.length > 0 && hint === undefined) lines.push(palette.strong('next:'));
  lines.push(...next.map((command) => `  ${cleanText(command)}`));
  if (known.requestId !== undefined) lines.push(`request id: ${cleanText(known.requestId)}`);
  if (debug) lines.push(...stacksOf(error).map((stack) => palette.quiet(cleanText(stack, 'keep'))));
  return `${lines.join('\n')}\n`;
}

function nextOf({ commands }: SvcError, { writeCommand }: ReportStyle): string[] {
  return commands.map((words) => writeCommand?.(words) ?? ['svc', ...words].join(' '));
}

/** Returns the words of the next command, which a program can run without reading the rules of a shell. */
function nextWordsOf({ commands }: SvcError, { wordsOf }: ReportStyle): readonly string[] | undefined {
  const [first] = commands;
  return first && (wordsOf?.(first) ?? ['svc', ...first]);
}

/** Returns the thrown value as an error that can be reported, even for an unexpected failure of the system. */
export function failureOf(error: unknown): SvcError {
  const exhausted = exhaustedCodeOf(error);
  if (exhausted !== undefined) return tooManyFilesError(error, exhausted);
  const memory = causesOf(error)
    .map(memoryFailure)
    .find((each) => each !== undefined);
  if (memory !== undefined) return memory;
  if (error instanceof SvcError) return error;
  if (systemCodeOf(error) === 'MODULE_NOT_FOUND') {
    return new SvcError(
      'local',
      'svc was upgraded or removed while this command was running: one of its files is gone',
      { hint: 'Run the same command again.', cause: error },
    );
  }
  const unusable = unusablePath(error);
  if (unusable !== undefined) return unusable;
  return new SvcError('bug', `unexpected failure: ${errorText(error)}`, {
    hint: 'This is a bug: please report it.',
    cause: error,
  });
}

/** Why the system refuses a path, whatever svc does with it. */
const PATH_PROBLEMS: Readonly<Record<string, string>> = {
  EACCES: 'not allowed for this user',
  EPERM: 'not allowed for this user',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
  EIO: 'its disk fails',
  ENOTDIR: 'it is below something that is not a directory',
  EISDIR: 'it is a directory, and a file is expected there',
};

/** The problems of a path that has another kind of file than svc keeps there. */
const MISPLACED: ReadonlySet<string> = new Set(['ENOTDIR', 'EISDIR']);

/** Returns the error for a path that the system refuses; undefined for any other error. */
function unusablePath(error: unknown): SvcError | undefined {
  const code = systemCodeOf(error) ?? '';
  const problem = ownMember(PATH_PROBLEMS, code);
  if (problem === undefined || !(error instanceof Error) || !('path' in error)) return undefined;
  return new SvcError(
    MISPLACED.has(code) ? 'config' : 'local',
    `${String(error.path)} cannot be used: ${problem} (${code})`,
    { hint: 'Check the path, the permissions of its directories, and its disk; or give another one.', cause: error },
  );
}

/** Returns `EMFILE` or `ENFILE` if an error or one of its causes is a lack of file descriptors. */
function exhaustedCodeOf(error: unknown): string | undefined {
  const codes = causesOf(error).map((each) =>
    each instanceof SvcError ? each.facts?.['system_code'] : systemCodeOf(each),
  );
  const found = codes.find((code) => code === 'EMFILE' || code === 'ENFILE');
  return typeof found === 'string' ? found : undefined;
}

/** Returns the error for a lack of file descriptors; the hint of the original error would mislead. */
function tooManyFilesError(error: unknown, code: string): SvcError {
  const failed = error instanceof SvcError ? error : new SvcError('local', 'a file or connection could not be opened');
  const { message } = failed;
  return failed.with({
    message: message.includes(code) ? message : `${message}: too many files are open (${code})`,
    hint: 'Raise the limit of open files, such as with "ulimit -n 1024", and run the command again.',
    next: undefined,
    alternatives: [],
  });
}

function errorText(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  try {
    return String(thrown);
  } catch {
    return 'something that cannot be shown was thrown';
  }
}

const LEAD = 'error: '.length;

// Further lines are indented, so that foreign text cannot imitate a line of svc.
function fitted(text: string, columns: number, indent = '  '): string {
  const lines = cleanText(text, 'keep').split('\n');
  const fitting = lines.flatMap((line) => (line.length + LEAD <= columns ? [line] : wrapWords(line, columns - LEAD)));
  return fitting.join(`\n${indent}`);
}

/** Returns the problems of an error, one per line: the first ones, then the number of the others. */
export function problemsOf(error: SvcError): readonly string[] {
  const problems = error.facts?.['problems'];
  if (!Array.isArray(problems)) return [];
  const lines = problems.map(problemLine);
  const shown = problems.reduce<number>((sum, problem) => sum + Number(membersOf(problem).get('count') ?? 1), 0);
  const more = Number(error.facts?.['problem_count'] ?? shown) - shown;
  return more > 0 ? [...lines, `and ${more} more`] : lines;
}

// A problem is a sentence, or a sentence with its location: a line and column of a file, several lines of the same
// shape, or a path of a body.
export function problemLine(problem: unknown): string {
  if (typeof problem === 'string') return problem;
  const said = membersOf(problem);
  const sentence = said.get('problem');
  if (typeof sentence !== 'string') return jsonLine(problem);
  const place = [lineNumbers(said), said.get('column'), said.get('path')];
  const words = place.filter((part) => typeof part === 'string');
  return words.length === 0 ? sentence : `${words.join(', ')}: ${sentence}`;
}

function membersOf(problem: unknown): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(problem ?? {}));
}

/** `line 2`, or for a group of lines `50,000 rows like "Aaa-99" (lines 2, 7, 12, …)`. */
function lineNumbers(said: ReadonlyMap<string, unknown>): unknown {
  const line = said.get('line');
  const shape = said.get('shape');
  const like = typeof shape === 'string' ? ` like "${shape}"` : '';
  const lines = said.get('lines');
  const count = Number(said.get('count') ?? 1);
  if (!Array.isArray(lines) || count === 1)
    return typeof line === 'number' ? `line ${line}${like === '' ? '' : `,${like}`}` : line;
  const first = lines.map((each) => formatNumber(Number(each))).join(', ');
  return `${formatNumber(count)} rows${like} (lines ${first}${count > lines.length ? ', …' : ''})`;
}

function stacksOf(error: unknown): string[] {
  return causesOf(error).map((each) => each.stack ?? String(each));
}
