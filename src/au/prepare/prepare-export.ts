// `svc au prepare`: turns an export into a request file, with its questions and messages.

import fs from 'node:fs';
import { isSvcError, SvcError } from '../../base/errors.ts';
import type { SealedFile } from '../../base/files/draft.ts';
import { compareShare } from '../../base/share.ts';
import type { Context } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { namedFiles } from '../../cli/app/files/own-input.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { Exclusions } from '../request/exclusions.ts';
import { recognizeFile } from '../request/file-kind.ts';
import { copyOut, openOverflowFile } from '../request/spool.ts';
import type { Overflow } from '../request/row-buckets.ts';
import { copyInput, readWithProgress, STANDARD_INPUT } from '../request/open-request-file.ts';
import { isMixed } from '../request/overview.ts';
import { wrongRequest } from '../request/wrong-file.ts';
import { droppedRows, type Prepared, type PrepareOptions, prepareRequest } from './prepare.ts';
import { PreparedFiles, type PreparedNames } from './prepare-files.ts';
import { isShown } from './prepare-columns.ts';
import { dateOrders } from './prepare-date.ts';
import { explainPrepared, refusedAsWhole, refusedExport, withoutOption } from './prepare-messages.ts';
import type { RejectLimit } from './prepare-options.ts';
import { askForColumns, requireMeantRepeats, withMap, withoutMap } from './questions.ts';
import { refuseCorrected } from './rejects-file.ts';

/** The options of a preparation. */
export interface Preparation {
  /** The files to write. A request named `-` goes to standard output. */
  readonly names: PreparedNames;
  /** The names of the files in messages, if they differ. */
  readonly shown?: PreparedNames | undefined;
  readonly how: PrepareOptions;
  /** The file with the operator's list of tokens to leave out. */
  readonly exclusions?: string | undefined;
  readonly maxRejects: RejectLimit | undefined;
  /** Whether existing files may be replaced. */
  readonly force: boolean;
  /** The path of the export, where it differs from the typed name. */
  readonly path?: string | undefined;
  /** Whether an implausible export stops the command. Default: true. False if its rows were sent before. */
  readonly isJudged?: boolean | undefined;
  /** The command, as words after `svc`, to which an error adds the option that helps. */
  readonly words: readonly string[];
  /** Called when the request is complete and flushed to disk, before any file gets its final name. */
  readonly onWhole?: ((request: SealedFile, prepared: Prepared, how: PrepareOptions) => void) | undefined;
  /** Called when the file of refused rows is complete and flushed to disk, before it gets its final name. */
  readonly onRejects?: ((rejects: SealedFile) => void) | undefined;
}

/** A request file that was prepared from an export. */
export interface PreparedRequest {
  readonly prepared: Prepared;
  readonly request: SealedFile;
}

/**
 * Writes the request file of an export, and explains on standard error what was changed.
 * @throws SvcError `refused_input` with every problem found, after writing only the file of refused rows; `config` for a missing
 *   list of exclusions
 */
export async function prepareExport(
  context: Context,
  typed: string,
  preparation: Preparation,
): Promise<PreparedRequest> {
  const { names, shown = names, how, exclusions: list, maxRejects, force, path } = preparation;
  const { isJudged = true, words, onWhole, onRejects } = preparation;
  const inputs = namedFiles({ '<export>': typed, '--exclusions': list });
  let files = await PreparedFiles.begin(context, inputs, names, force);
  try {
    if (!force && names.rejects !== undefined) await refuseCorrected(files.path('rejects'), names.rejects, how);
    const file = path ?? (typed === '-' ? await copyInput(context) : resolvePath(context, typed));
    const exclusions = list === undefined ? undefined : await openExclusions(context, list, words);
    const openOverflow = (): Promise<Overflow> => openOverflowFile(context);
    let options: PrepareOptions = { ...how, exclusions, now: context.clock.now(), openOverflow };
    const read = (): Promise<Prepared> =>
      readExport(context, typed, file, { files, shown, how: options, maxRejects, words, onRejects });
    const readAgain = async (first: Prepared, more: PrepareOptions): Promise<Prepared> => {
      await files.discard();
      files = await PreparedFiles.begin(context, inputs, names, force);
      options = { ...options, ...more };
      const again = await read();
      if (again.sha256 === first.sha256) return again;
      throw new SvcError('local', `${typed} was changed while it was read; nothing was written`, {
        hint: 'Run the command again when the export is complete.',
      });
    };
    let prepared = await read();
    const answers = await askForColumns(context, prepared, { typed, how: options, words });
    if (answers.columns === undefined) options = { ...options, ...answers };
    else prepared = await readAgain(prepared, answers);
    if (isMixed(prepared.overview) && !how.accept?.includes('tokens'))
      prepared = await readAgain(prepared, { onlyUuids: true });
    const implausible = isJudged ? refusedAsWhole(prepared, { typed, words }) : undefined;
    if (implausible !== undefined) throw implausible;
    // A second reading writes later dates into rows that were already written, and leaves out repeats that were found late.
    const { laterDates, lateRepeats } = prepared;
    if (laterDates.size > 0 || lateRepeats !== undefined)
      prepared = await readAgain(prepared, { laterDates, lateRepeats });
    options = { ...options, ...(await requireMeantRepeats(context, prepared, { typed, how: options, words })) };
    const whole = await files.seal();
    await noteRejects(files, onRejects);
    onWhole?.(whole, prepared, options);
    const request = await files.finish();
    if (names.request === '-') await copyOut(context, files.path('request'), names.request);
    explainPrepared(context, prepared, request, shown);
    return { prepared, request };
  } finally {
    await files.discard();
  }
}

async function openExclusions(context: Context, typed: string, words: readonly string[]): Promise<Exclusions> {
  const file = resolvePath(context, typed);
  if (fs.existsSync(file)) return Exclusions.open(file);
  // The name may be misspelled, and the rows that the list excludes would be billed.
  throw new SvcError('config', `${typed} does not exist; nothing was written`, {
    hint: 'Put the file back and run the same command again, or go on without it: the rows that it left out are then in the request.',
    next: words,
    alternatives: [words.map((word, at) => (words[at - 1] === '--exclusions' ? 'none' : word))],
    facts: { file: typed },
  });
}

async function noteRejects(files: PreparedFiles, onRejects: Preparation['onRejects']): Promise<void> {
  const rejects = await files.sealRejects();
  if (rejects) onRejects?.(rejects);
}

interface Reading extends Pick<Preparation, 'how' | 'maxRejects' | 'words' | 'onRejects'> {
  readonly files: PreparedFiles;
  readonly shown: PreparedNames;
}

async function readExport(
  context: Context,
  typed: string,
  file: string,
  { files, shown: { rejects }, how, maxRejects = NONE, words, onRejects }: Reading,
): Promise<Prepared> {
  return readWithProgress(context, 'prepare', file, async (pieces, progress) => {
    const name = typed === '-' ? STANDARD_INPUT : typed;
    const prepared = await prepareRequest(pieces, files.outputs(), { ...how, ...progress, name });
    if (!isWithinLimit(prepared, maxRejects)) {
      await noteRejects(files, onRejects);
      await files.finishOnly('rejects');
      throw refusedExport(prepared, { typed, rejects, words, orders: dateOrders(how.dateOrder ?? []) });
    }
    return prepared;
  }).catch(async (error: unknown) => {
    throw (await wrongFileError(error, typed, file)) ?? withAnswers(error, typed, words);
  });
}

const NONE: RejectLimit = { rows: 0, words: '0' };

/** Returns whether the limit allows the request to be written without the refused rows. */
function isWithinLimit(prepared: Prepared, limit: RejectLimit): boolean {
  const { rows, problemCount, isUnusable } = prepared;
  if (problemCount === 0) return true;
  if (isUnusable || rows === 0) return false;
  const { repeated_tokens: repeated } = droppedRows(prepared);
  if ('rows' in limit) return problemCount <= limit.rows;
  return compareShare(problemCount, rows + repeated + problemCount, limit.share) <= 0;
}

/** Returns the error for a file of another known kind, such as a result file; undefined for any other failure. */
async function wrongFileError(error: unknown, typed: string, file: string): Promise<SvcError | undefined> {
  if (!isSvcError(error, 'refused_input') || error.facts?.['rule'] !== 'wrong_file') return undefined;
  const kind = await recognizeFile(file);
  return kind === undefined || kind === 'request' ? undefined : wrongRequest(typed, kind, 'an export of tokens');
}

/** Adds the options that help to an error about the header or the quotes. Returns other errors unchanged. */
function withAnswers(error: unknown, typed: string, words: readonly string[]): unknown {
  const needs = isSvcError(error, 'refused_input') ? error.facts?.['needs'] : undefined;
  if (!isSvcError(error) || typeof needs !== 'string') return error;
  const answered = error.with({ message: `${typed === '-' ? STANDARD_INPUT : typed}: ${error.message}` });
  const { found, found_names: names, proposed } = error.facts ?? {};
  if (needs === 'quotes')
    return answered.with({ next: [...words, '--no-quotes'], alternatives: [[...words, '--accept', 'quotes']] });
  if (needs === 'columns') {
    const columns = option('--columns', typeof proposed === 'string' ? proposed : undefined);
    return answered.with({
      hint: NAME_COLUMNS,
      next: [...withoutOption(withoutOption(words, '--map'), '--columns'), ...columns],
    });
  }
  if (typeof found === 'string') {
    const without = withoutMap(words, found).filter((word) => word !== '--no-expiration');
    return answered.with({
      hint: 'Nothing was written. Name the column, or say that no column is the expiration:',
      next: withMap(words, needs, 'NAME'),
      alternatives: [[...without, '--no-expiration']],
    });
  }
  const named = (Array.isArray(names) ? names.map(String).filter(isShown) : []).map((name) =>
    withMap(words, needs, name),
  );
  const [next = withMap(words, needs, 'NAME'), ...alternatives] = named;
  return answered.with({ hint: 'Nothing was written. Name the column:', next, alternatives });
}

const NAME_COLUMNS =
  'Nothing was written. Name all columns in their order, with - for one that is not sent; month, year and merchant are names too:';
