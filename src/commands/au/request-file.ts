import path from 'node:path';
import { checkRequestFile } from '../../account-updater/check-request-file.ts';
import {
  type Duplicate,
  explainCheck,
  explainWarnings,
  type Problem,
  refusedFile,
  type RequestFileCheck,
  type Rule,
} from '../../account-updater/request-file.ts';
import { spool } from '../../account-updater/spool.ts';
import type { Context } from '../../app/command.ts';
import { resolvePath } from '../../app/parameter.ts';
import { requireDirectory } from '../../config/paths.ts';
import { SvcError } from '../../errors.ts';
import { cleanText } from '../../output/text.ts';
import { fileSource, type UploadSource } from '../../transfer/source.ts';
import { checkedFileRow, type CheckedFileRow } from './view.ts';

/** A request file that was checked and may be sent. */
export interface RequestFile {
  /** As the operator called it. */
  readonly name: string;
  readonly check: RequestFileCheck;
  /** Where its bytes are. */
  readonly path: string;
  /** Whether it can be read again by a later command: not when it came through a pipe. */
  readonly lasts: boolean;
  /** Exactly the bytes that were checked; a change in between is noticed. */
  readonly source: UploadSource;
}

const LARGE = 20_000_000;
/** Twelve times what one job takes: enough for any pipe, and a bound for a runaway one. */
const LARGEST_SPOOL = 360_000_000;

/**
 * Opens and checks a request file, or standard input for `-`, which is copied to a private place first.
 * @throws SvcError `refused_input` with every problem found, before anything is created or sent
 */
export async function openRequestFile(context: Context, typed: string): Promise<RequestFile> {
  const { name, path: file, check } = await inspectRequestFile(context, typed);
  if (!check.ok) throw refusedFile(check, name);
  const source = await fileSource(file, { sha256: check.sha256 });
  return { name, check, path: file, lasts: typed !== '-', source };
}

/** A request file and what is to be said of it, whether it is in order or not; warnings are said here. */
async function inspectRequestFile(
  context: Context,
  typed: string,
): Promise<Pick<RequestFile, 'name' | 'path' | 'check'>> {
  const name = typed === '-' ? 'standard input' : typed;
  const file = typed === '-' ? await spoolInput(context) : typed;
  const check = await checkAndShow(context, file);
  annotate(context, typed, check);
  if (check.ok) for (const warning of explainWarnings(check)) context.notices.warn(`${name}: ${warning}`);
  return { name, path: file, check };
}

/** The file for a single job. @throws SvcError `refused_input` when it has more bytes than one job takes */
export async function openJobFile(context: Context, typed: string): Promise<RequestFile> {
  const file = await openRequestFile(context, typed);
  const { rows, bytes, exceeds } = file.check;
  if (!exceeds.bytes) return file;
  throw new SvcError('refused_input', `${file.name} is too large for one job: ${bytes} bytes`, {
    hint: 'A job takes 30,000,000 bytes: split the file, each part with the header row.',
    facts: { rows, bytes },
  });
}

async function checkAndShow({ progress, signal }: Context, file: string): Promise<RequestFileCheck> {
  const source = await fileSource(file);
  const shown = source.size >= LARGE ? progress.bytes('check', source.size) : undefined;
  try {
    const check = await checkRequestFile(source.open(), {
      signal,
      onProgress: (bytes) => shown?.update(bytes),
    });
    shown?.done();
    return check;
  } catch (error) {
    shown?.fail();
    throw error;
  }
}

async function spoolInput(context: Context): Promise<string> {
  const { system, signal } = context;
  if (system.stdin.isTTY) {
    throw new SvcError('input_needed', 'standard input is a terminal, not a file', {
      hint: 'Pipe the request file in, or name it.',
    });
  }
  const directory = path.join(requireDirectory(system, 'state'), 'spool');
  const host = { pid: system.pid, isAlive: (pid: number) => system.isAlive(pid), signal };
  const spooled = await spool(system.stdin, directory, host, LARGEST_SPOOL);
  context.onClose(() => spooled.remove());
  return spooled.path;
}

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
function annotate(
  context: Pick<Context, 'system' | 'notices'>,
  typed: string,
  { problems, duplicates }: Pick<RequestFileCheck, 'problems' | 'duplicates'>,
): void {
  const { system, notices } = context;
  if (system.env['GITHUB_ACTIONS'] !== 'true' || typed === '-') return;
  const file = positionIn(context, typed);
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
function positionIn(context: Pick<Context, 'system'>, typed: string): string {
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

/** What checks of several files came to. */
export interface CheckedFiles {
  /** The files that are in order. */
  readonly rows: readonly CheckedFileRow[];
  /** What is wrong with the others, in one failure. */
  readonly refused: SvcError | undefined;
}

interface Refused {
  readonly name: string;
  readonly check: RequestFileCheck;
}

/** Checks request files one after another; one that is refused stops no other. */
export async function checkFiles(context: Context, files: readonly string[]): Promise<CheckedFiles> {
  const rows: CheckedFileRow[] = [];
  const refused: Refused[] = [];
  for (const file of files) {
    const { name, check } = await inspectRequestFile(context, file);
    if (check.ok) rows.push(checkedFileRow(name, check));
    else refused.push({ name, check });
  }
  return { rows, refused: refusal(refused, files.length) };
}

function refusal(refused: readonly Refused[], all: number): SvcError | undefined {
  const [first] = refused;
  if (!first) return undefined;
  if (all === 1) return refusedFile(first.check, first.name);
  const lines = refused.flatMap(({ name, check }) => explainCheck(check).map((line) => `${name}: ${line}`));
  const files = refused.map(({ name, check }) => ({
    file: name,
    problems: check.problems,
    problem_count: check.problemCount,
  }));
  return new SvcError('refused_input', `${refused.length} of ${all} files are refused`, {
    hint: "Fix these lines, then run 'svc au check' again.",
    facts: { files, problems: lines },
  });
}
