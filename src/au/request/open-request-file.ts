// Opens and checks a request file, and describes it.

import path from 'node:path';
import { SvcError } from '../../base/errors.ts';
import { containsCardNumber } from '../../base/security/card-number.ts';
import type { Context } from '../../cli/app/command.ts';
import { countText, formatNumber, formatPercent } from '../../cli/output/number.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import { fileSource, type UploadSource } from '../../client/transfer/source.ts';
import { MAX_REQUEST_FILE_ROWS } from '../../schema/account-updater-files.ts';
import { copyFile, copyInput, openOverflowFile } from './spool.ts';
import { checkRequestFile } from './check-request-file.ts';
import { recognizeFile } from './file-kind.ts';
import { OVERVIEW_FIELDS, overviewLines, overviewMembers } from './overview.ts';
import type { Problem, RequestFileCheck } from './request-file.ts';
import { readRequest } from './request-lines.ts';
import { type DividedRows, RowsFile, withTokensOnce } from './rows-file.ts';
import { wrongRequest } from './wrong-file.ts';

export const checkedFileView: View<ReturnType<typeof checkedFileRow>> = {
  name: 'request file',
  fields: ['file', 'rows', 'bytes', 'sha256', 'repeated_tokens', 'job_count', ...OVERVIEW_FIELDS],
  columns: simpleColumns({
    file: 'text',
    rows: 'number',
    bytes: 'number',
    sha256: 'id',
    repeated_tokens: 'number',
    job_count: 'number',
  }),
};

/** Returns the printed row of a valid file: its size, its repeated rows, and the jobs that it needs. */
export function checkedFileRow(
  file: string,
  { rows, bytes, sha256 }: RequestFileCheck,
  { duplicates, overview }: RequestFileCheck,
  jobs: number,
) {
  const members = overview && overviewMembers(overview);
  return { file, rows, bytes, sha256, repeated_tokens: duplicates.count, job_count: jobs, ...members };
}

/** A valid request file. A repeated row is sent once. */
export interface RequestFile {
  /** The name that the operator typed. */
  readonly name: string;
  /** The path of the bytes to send, which may be a copy. */
  readonly path: string;
  /** The check of these bytes. */
  readonly check: RequestFileCheck;
  /** The check of the file as it was submitted. */
  readonly submitted: RequestFileCheck;
  /** The bytes to send. Reading them fails if they have changed since the check. */
  readonly source: UploadSource;
  /** The submitted bytes, if they have repeated rows. */
  readonly withRepeats: UploadSource | undefined;
}

/**
 * Opens and checks a request file. Standard input (`-`) is first copied to a private file.
 * @throws SvcError `refused_input` with all problems
 */
export async function openRequestFile(context: Context, typed: string, copy?: string): Promise<RequestFile> {
  const name = typed === '-' ? STANDARD_INPUT : typed;
  const file = copy ?? (typed === '-' ? await copyInput(context) : typed);
  const shown = withProgress(context, 'check', await fileSource(file));
  const openOverflow = () => openOverflowFile(context);
  const { signal, clock } = context;
  const submitted = await checkRequestFile(shown.open(), { openOverflow, signal, now: clock.now() });
  if (!submitted.ok) throw await refusalOf(submitted, typed, file);
  const source = await fileSource(file, { sha256: submitted.sha256 });
  const { count, lines } = submitted.duplicates;
  const divided = count === 0 ? undefined : await withoutRepeats(context, source, lines);
  for (const warning of explainWarnings(submitted, divided?.check ?? submitted))
    context.notices.warn(`${name}: ${warning}`);
  if (divided === undefined) return { name, path: file, check: submitted, submitted, source, withRepeats: undefined };
  const sent = await fileSource(divided.path, { sha256: divided.check.sha256 });
  return { name, ...divided, submitted, source: sent, withRepeats: source };
}

/**
 * Checks the name of a request file, which the ledger of all machines keeps for ever.
 * @throws SvcError `refused_input` for a card number in the name
 */
export function requireNameToRecord(typed: string): void {
  if (!containsCardNumber(path.basename(typed), 'cell')) return;
  throw new SvcError('refused_input', 'the name of the file contains what looks like a card number; nothing was sent', {
    hint: 'Give the file another name: the ledger keeps it, and other machines read the ledger.',
  });
}

/** Opens a request file that is to be sent, as `openRequestFile`, if the ledger may keep its name. */
export async function openFileToSend(context: Context, typed: string): Promise<RequestFile> {
  requireNameToRecord(typed);
  return openRequestFile(context, typed);
}

/** Counts the jobs that a file needs. */
export async function countJobs(context: Context, file: RequestFile): Promise<number> {
  const files = await withTokensOnce(context, file);
  return files.reduce((sum, { check }) => sum + check.parts.length, 0);
}

/**
 * Copies a request file and checks the copy, so that later changes to the file do not matter. The copy is removed at
 * the end of the command.
 * @throws SvcError `refused_input` with all problems
 */
export async function copyRequestFile(context: Context, typed: string): Promise<RequestFile> {
  if (typed === '-') return openRequestFile(context, typed);
  requireNameToRecord(typed);
  // An unreadable file must be reported under its typed name, not under the name of the copy.
  await fileSource(typed);
  return openRequestFile(context, typed, await copyFile(context, typed));
}

/**
 * Opens the request file for a single job.
 * @throws SvcError `refused_input` for a file that is too large for one job
 */
export async function openJobFile(context: Context, typed: string): Promise<RequestFile> {
  const file = await openFileToSend(context, typed);
  const { rows, bytes, exceeds } = file.check;
  if (!exceeds.bytes) return file;
  throw new SvcError('refused_input', `${file.name} is too large for one job: ${bytes} bytes`, {
    hint: 'A job takes 30,000,000 bytes: split the file, each part with the header row, or submit it as several jobs.',
    next: ['au', 'submit', typed],
    facts: { rows, bytes },
  });
}

export const STANDARD_INPUT = 'standard input';

/** Notes the overview of a file. `name` is the name of the file, if there are several. */
export function noteOverview(
  { notices }: Pick<Context, 'notices'>,
  name: string | undefined,
  check: RequestFileCheck,
): void {
  const lines = check.overview === undefined ? [] : overviewLines(check.overview);
  for (const line of lines) notices.note(name === undefined ? line : `${name}: ${line}`);
}

async function refusalOf(check: RequestFileCheck, typed: string, file: string): Promise<SvcError> {
  const kind = check.problems.some(({ rule }) => rule === 'wrong_file') ? await recognizeFile(file) : undefined;
  if (kind !== undefined && kind !== 'request') return wrongRequest(typed, kind);
  return refusedFile(check, typed === '-' ? STANDARD_INPUT : typed);
}

/** Returns a source whose readings end with the command. */
export function endingWith<T extends Pick<UploadSource, 'open'>>({ signal }: Pick<Context, 'signal'>, source: T): T {
  return {
    ...source,
    async *open() {
      for await (const piece of source.open()) {
        signal.throwIfAborted();
        yield piece;
      }
    },
  };
}

/** Returns a source whose readings end with the command, and show their progress on a terminal in a line that disappears at the end. */
export function withProgress<T extends Pick<UploadSource, 'open' | 'size'>>(
  context: Pick<Context, 'progress' | 'signal'>,
  label: string,
  source: T,
): T {
  return {
    ...source,
    async *open() {
      const live = context.progress.watching(label);
      let bytes = 0;
      try {
        for await (const piece of endingWith(context, source).open()) {
          bytes += piece.length;
          live?.update({ state: formatPercent(Math.floor((100 * bytes) / source.size) / 100) });
          yield piece;
        }
      } finally {
        live?.done();
      }
    },
  };
}

/** Returns a warning about digits that begin or end like a card number but may be an id. Never shows the digits. */
export function explainAttachedDigits(lines: RequestFileCheck['attachedDigits']): string {
  const { count } = lines;
  const have = count === 1 ? 'has' : 'have';
  return `${countText(count, 'row')} ${have} digits that begin or end like a card number (${placesOf(lines)}): check that these are ids`;
}

/** Formats the first few line numbers, such as "lines 3, 5, 8, …". */
export function placesOf({ count, first }: RequestFileCheck['attachedDigits']): string {
  const lines = first.slice(0, 3).map((line) => formatNumber(line));
  return `${count === 1 ? 'line' : 'lines'} ${lines.join(', ')}${count > lines.length ? ', …' : ''}`;
}

/**
 * Returns the warnings about a valid request file, such as repeated rows or too many rows for one job. `sent` is the
 * check of the file without its repeated rows.
 */
export function explainWarnings(
  { duplicates, attachedDigits }: RequestFileCheck,
  { exceeds, rows }: RequestFileCheck,
): string[] {
  const { count, first } = duplicates;
  const places = first
    .slice(0, 3)
    .map(({ line, firstLine }) => `line ${formatNumber(line)} (that of line ${formatNumber(firstLine)})`);
  const more = count > places.length ? ' …' : '';
  const [repeat, are] = count === 1 ? ['repeats', 'is'] : ['repeat', 'are'];
  const lines =
    count === 0
      ? []
      : [
          `${countText(count, 'row')} ${repeat} the token and merchant of an earlier row and ${are} left out: ${places.join(', ')}${more}`,
        ];
  if (attachedDigits.count > 0) lines.push(explainAttachedDigits(attachedDigits));
  if (exceeds.rows)
    lines.push(
      `${formatNumber(rows)} rows are more than the about ${formatNumber(MAX_REQUEST_FILE_ROWS)} that one job takes; submitting them creates several jobs`,
    );
  return lines;
}

/** Returns the error for a request file with problems. `file` is the name that the operator typed. */
export function refusedFile(check: Pick<RequestFileCheck, 'problems' | 'problemCount'>, file: string): SvcError {
  const canBePrepared =
    file !== STANDARD_INPUT && check.problems.some(isPrepared) && !check.problems.some(isRefusedToo);
  return new SvcError('refused_input', `${file} is refused: ${countText(check.problemCount, 'problem')}`, {
    hint: `Fix these lines, then run the command again.${canBePrepared ? ' Or make a request file of it:' : ''}`,
    next: canBePrepared ? ['au', 'prepare', file, '--out', `${file.replace(/\.\w+$/, '')}.prepared.csv`] : undefined,
    facts: { file, problems: check.problems, problem_count: check.problemCount },
  });
}

/** Tells whether `svc au prepare` usually fixes a problem without further help. */
function isPrepared({ rule, problem }: Problem): boolean {
  return PREPARED.test(rule) || (rule === 'encoding' && problem.includes('UTF-16'));
}

/** Tells whether `svc au prepare` refuses a problem too, so that the hint does not suggest it. */
function isRefusedToo({ rule, problem }: Problem): boolean {
  if (rule === 'card_number' || rule === 'quoted_newline') return true;
  const shown = /^"(.*?)"/.exec(problem)?.[1];
  if (shown === undefined) return false;
  return (rule === 'month' && !/^[1-9]$/.test(shown)) || (rule === 'year' && !/^20\d\d$/.test(shown));
}

const PREPARED = /^(?:header|byte_order_mark|blank_line|surrounding_space|year|month)/;

/**
 * Writes a checked request file without its repeated rows into a private file, which is removed at the end of the command.
 * `repeats` are their lines, in order.
 * @throws SvcError `conflict` if the file has changed since its check
 */
async function withoutRepeats(
  context: Context,
  submitted: UploadSource,
  repeats: readonly number[],
): Promise<DividedRows | undefined> {
  const file = new RowsFile(context);
  let line = 1;
  let next = 0;
  for await (const rows of readRequest(endingWith(context, submitted).open())) {
    for (const row of rows) {
      line += 1;
      if (line === repeats[next]) next += 1;
      else file.add(row.line);
    }
    await file.flush();
  }
  return file.finish();
}
