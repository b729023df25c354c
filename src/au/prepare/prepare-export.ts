// `svc au prepare`: turns an export into a request file, with its questions and messages.

import fs from 'node:fs';
import { withColumnOptions } from './header-errors.ts';
import type { PrepareOptions, ReadingOptions } from './how-to-read.ts';
import { dateOrders } from './date-orders.ts';
import { PreparedFiles, type PreparedNames } from './prepare-files.ts';
import { explainPrepared, refusedAsWhole, refusedExport, withoutOption } from './prepare-messages.ts';
import type { RejectLimit } from './prepare-options.ts';
import { type Prepared, droppedRows, prepareRequest } from './prepare.ts';
import { askForColumns, requireMeantRepeats } from './questions.ts';
import { refuseCorrected } from './rejects-file.ts';
import { Exclusions } from '../request/exclusions.ts';
import { recognizeFile } from '../request/file-kind.ts';
import { STANDARD_INPUT, withProgress } from '../request/open-request-file.ts';
import { isMixed } from '../request/overview.ts';
import { copyInput, copyOut, openOverflowFile } from '../request/spool.ts';
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
  readonly how: ReadingOptions;
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
}

/** A request file that was prepared from an export. */
export interface PreparedRequest {
  readonly prepared: Prepared;
  readonly request: SealedFile;
  /** How the export was read: what was typed, and the operator's answers. */
  readonly how: ReadingOptions;
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
  const { names, shown = names, how, exclusions: list, force, path, words } = preparation;
  const inputs = namedFiles({ '<export>': typed, '--exclusions': list });
  const files = await PreparedFiles.choose(context, inputs, names, force);
  const file = path ?? (typed === '-' ? await copyInput(context) : resolvePath(context, typed));
  if (!force && names.rejects !== undefined)
    await refuseCorrected(context, { path: files.path('rejects'), name: names.rejects }, { exported: file, how });
  const exclusions = list === undefined ? undefined : await openExclusions(context, list, words);
  const reading = new ExportReading(context, { typed, file, files, preparation }, { ...how, exclusions });
  try {
    const prepared = await reading.readUntilComplete();
    const request = await files.finish();
    if (names.request === '-') await copyOut(context, files.path('request'), names.request);
    explainPrepared(context, prepared, shown);
    return { prepared, request, how: reading.options };
  } finally {
    await files.discard();
  }
}

/** An export, and what is made of it. */
interface Exported {
  readonly typed: string;
  /** The path of the export. */
  readonly file: string;
  readonly files: PreparedFiles;
  readonly preparation: Preparation;
}

/** Reads an export as often as its columns, tokens and repeats require, and writes its files each time. */
class ExportReading {
  readonly #context: Context;
  readonly #exported: Exported;
  /** What was typed, completed by the answers of the operator and by what an earlier reading found. */
  options: PrepareOptions;
  #sha256: string | undefined;

  constructor(context: Context, exported: Exported, options: PrepareOptions) {
    const name = exported.typed === '-' ? STANDARD_INPUT : exported.typed;
    this.#context = context;
    this.#exported = exported;
    this.options = { ...options, now: context.clock.now(), openOverflow: () => openOverflowFile(context), name };
  }

  /**
   * Reads the export, asks for what its header does not tell, and reads it again where that changes the rows.
   * @throws SvcError `refused_input` for rows that are refused, or for an export that is implausible as a whole
   */
  async readUntilComplete(): Promise<Prepared> {
    const { typed, preparation } = this.#exported;
    const { how, refusesImplausible = true, words } = preparation;
    const context = this.#context;
    let prepared = await this.#read();
    const answers = await askForColumns(context, prepared, { typed, how: this.options, words });
    if (answers.columns === undefined) this.options = { ...this.options, ...answers };
    else prepared = await this.#read(answers);
    if (isMixed(prepared.overview) && !how.accept?.includes('tokens'))
      prepared = await this.#read({ onlyUuids: () => true });
    const implausible = refusesImplausible ? refusedAsWhole(prepared, { typed, words }) : undefined;
    if (implausible !== undefined) throw implausible;
    const meant = await requireMeantRepeats(context, prepared, { typed, how: this.options, words });
    this.options = { ...this.options, ...meant };
    return prepared;
  }

  /** Reads the export with more options, and once more if rows are repeated: then each of them is written once. */
  async #read(more: PrepareOptions = {}): Promise<Prepared> {
    this.options = { ...this.options, ...more };
    const prepared = await this.#readOnce(this.options);
    const { repeated } = prepared;
    return repeated === undefined ? prepared : this.#readOnce({ ...this.options, repeated });
  }

  async #readOnce(options: PrepareOptions): Promise<Prepared> {
    const { typed, file, files, preparation } = this.#exported;
    const { names, shown = names, maxRejects = NONE, words } = preparation;
    await files.begin();
    try {
      const source = withProgress(this.#context, 'prepare', await fileSource(file));
      const prepared = await prepareRequest(source.open(), files.outputs(), options);
      this.#sha256 ??= prepared.sha256;
      if (prepared.sha256 !== this.#sha256) throw changedExport(typed);
      if (isWithinLimit(prepared, maxRejects)) return prepared;
      await files.finishOnly('rejects');
      const orders = dateOrders(options.dateOrder ?? []);
      throw refusedExport(prepared, { typed, rejects: shown.rejects, words, orders });
    } catch (error) {
      throw (await wrongFileError(error, typed, file)) ?? withColumnOptions(error, typed, words);
    }
  }
}

function changedExport(typed: string): SvcError {
  return new SvcError('local', `${typed} was changed while it was read; nothing was written`, {
    hint: 'Run the command again when the export is complete.',
  });
}

async function openExclusions(context: Context, typed: string, words: readonly string[]): Promise<Exclusions> {
  const file = resolvePath(context, typed);
  if (fs.existsSync(file)) return Exclusions.open(file);
  // The name may be misspelled, and the rows that the list excludes would be billed.
  throw new SvcError('config', `${typed} does not exist; nothing was written`, {
    hint: 'Put the file back and run the same command again, or go on without it: the rows that it left out are then in the request.',
    next: words,
    alternatives: [[...withoutOption(words, '--exclusions'), '--exclusions', 'none']],
    facts: { file: typed },
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
