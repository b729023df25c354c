// `svc au prepare`: turns an export into a request file, with its questions and messages.

import fs from 'node:fs';
import { withColumnOptions } from './header-errors.ts';
import { dateOrders } from './prepare-date.ts';
import { PreparedFiles, type PreparedNames } from './prepare-files.ts';
import { explainPrepared, refusedAsWhole, refusedExport } from './prepare-messages.ts';
import type { RejectLimit } from './prepare-options.ts';
import { type PrepareOptions, type Prepared, droppedRows, prepareRequest } from './prepare.ts';
import { askForColumns, requireMeantRepeats } from './questions.ts';
import { refuseCorrected } from './rejects-file.ts';
import { Exclusions } from '../request/exclusions.ts';
import { recognizeFile } from '../request/file-kind.ts';
import { STANDARD_INPUT, copyInput, withProgress } from '../request/open-request-file.ts';
import { isMixed } from '../request/overview.ts';
import type { Overflow } from '../request/row-buckets.ts';
import { copyOut, openOverflowFile } from '../request/spool.ts';
import { wrongRequest } from '../request/wrong-file.ts';
import { SvcError, isSvcError } from '../../base/errors.ts';
import type { SealedFile } from '../../base/files/draft.ts';
import { compareShare } from '../../base/share.ts';
import type { Context } from '../../cli/app/command.ts';
import { namedFiles } from '../../cli/app/files/own-input.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { fileSource } from '../../client/transfer/source.ts';

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
  readonly refusesImplausible?: boolean | undefined;
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
  const reading = await ExportReading.begin(context, typed, preparation);
  try {
    await reading.open();
    return await reading.finish(await reading.readUntilComplete());
  } finally {
    await reading.discard();
  }
}

/** Reads an export as often as its columns, dates and repeats require, and writes its files. */
class ExportReading {
  readonly #context: Context;
  /** The export as typed. */
  readonly #typed: string;
  readonly #preparation: Preparation;
  #files: PreparedFiles;
  /** What was typed, completed by the answers of the operator and by what the first reading found. */
  #options: PrepareOptions;
  /** The path of the export. */
  #file = '';

  private constructor(context: Context, typed: string, preparation: Preparation, files: PreparedFiles) {
    this.#context = context;
    this.#typed = typed;
    this.#preparation = preparation;
    this.#files = files;
    this.#options = preparation.how;
  }

  static async begin(context: Context, typed: string, preparation: Preparation): Promise<ExportReading> {
    return new ExportReading(context, typed, preparation, await beginFiles(context, typed, preparation));
  }

  /** Finds the export and the list of exclusions. @throws SvcError `config` for a missing list */
  async open(): Promise<void> {
    const { names, how, exclusions: list, force, path, words } = this.#preparation;
    if (!force && names.rejects !== undefined) await refuseCorrected(this.#files.path('rejects'), names.rejects, how);
    const context = this.#context;
    this.#file = path ?? (this.#typed === '-' ? await copyInput(context) : resolvePath(context, this.#typed));
    const exclusions = list === undefined ? undefined : await openExclusions(context, list, words);
    const openOverflow = (): Promise<Overflow> => openOverflowFile(context);
    this.#options = { ...how, exclusions, now: context.clock.now(), openOverflow };
  }

  /**
   * Reads the export, asks for what its header does not tell, and reads it again where that changes the rows.
   * @throws SvcError `refused_input` for rows that are refused, or for an export that is implausible as a whole
   */
  async readUntilComplete(): Promise<Prepared> {
    const { how, refusesImplausible = true, words } = this.#preparation;
    const context = this.#context;
    let prepared = await this.#read();
    const answers = await askForColumns(context, prepared, { typed: this.#typed, how: this.#options, words });
    if (answers.columns === undefined) this.#options = { ...this.#options, ...answers };
    else prepared = await this.#readAgain(prepared, answers);
    if (isMixed(prepared.overview) && !how.accept?.includes('tokens'))
      prepared = await this.#readAgain(prepared, { onlyUuids: true });
    const implausible = refusesImplausible ? refusedAsWhole(prepared, { typed: this.#typed, words }) : undefined;
    if (implausible !== undefined) throw implausible;
    // These are known only at the end of a reading: later dates of rows that were already written, and repeats found late.
    const { laterDates, lateRepeats } = prepared;
    if (laterDates.size > 0 || lateRepeats !== undefined)
      prepared = await this.#readAgain(prepared, { laterDates, lateRepeats });
    const meant = await requireMeantRepeats(context, prepared, { typed: this.#typed, how: this.#options, words });
    this.#options = { ...this.#options, ...meant };
    return prepared;
  }

  /** Gives the files their names, and explains what was changed. */
  async finish(prepared: Prepared): Promise<PreparedRequest> {
    const { names, shown = names, onWhole, onRejects } = this.#preparation;
    const whole = await this.#files.seal();
    await sealRejects(this.#files, onRejects);
    onWhole?.(whole, prepared, this.#options);
    const request = await this.#files.finish();
    if (names.request === '-') await copyOut(this.#context, this.#files.path('request'), names.request);
    explainPrepared(this.#context, prepared, request, shown);
    return { prepared, request };
  }

  discard(): Promise<void> {
    return this.#files.discard();
  }

  #read(): Promise<Prepared> {
    const { names, shown = names, maxRejects, words, onRejects } = this.#preparation;
    const reading = { files: this.#files, shown, how: this.#options, maxRejects, words, onRejects };
    return readExport(this.#context, this.#typed, this.#file, reading);
  }

  /** Reads the export again, with more options. @throws SvcError `local` if it was changed meanwhile */
  async #readAgain(first: Prepared, more: PrepareOptions): Promise<Prepared> {
    await this.#files.discard();
    this.#files = await beginFiles(this.#context, this.#typed, this.#preparation);
    this.#options = { ...this.#options, ...more };
    const again = await this.#read();
    if (again.sha256 === first.sha256) return again;
    throw new SvcError('local', `${this.#typed} was changed while it was read; nothing was written`, {
      hint: 'Run the command again when the export is complete.',
    });
  }
}

function beginFiles(
  context: Context,
  typed: string,
  { names, exclusions, force }: Preparation,
): Promise<PreparedFiles> {
  return PreparedFiles.begin(context, namedFiles({ '<export>': typed, '--exclusions': exclusions }), names, force);
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

async function sealRejects(files: PreparedFiles, onRejects: Preparation['onRejects']): Promise<void> {
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
  try {
    const source = withProgress(context, 'prepare', await fileSource(file));
    const options = { ...how, signal: context.signal, name: typed === '-' ? STANDARD_INPUT : typed };
    const prepared = await prepareRequest(source.open(), files.outputs(), options);
    if (isWithinLimit(prepared, maxRejects)) return prepared;
    await sealRejects(files, onRejects);
    await files.finishOnly('rejects');
    throw refusedExport(prepared, { typed, rejects, words, orders: dateOrders(how.dateOrder ?? []) });
  } catch (error) {
    throw (await wrongFileError(error, typed, file)) ?? withColumnOptions(error, typed, words);
  }
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
