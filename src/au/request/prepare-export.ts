import fs from 'node:fs';
import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Sealed } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { resolvePath } from '../../cli/app/typed-path.ts';
import { copyOut } from '../results/deliver.ts';
import { Exclusions } from './exclusions.ts';
import { recognizeFile } from './file-kind.ts';
import { copyInput, readWithProgress, STANDARD_INPUT } from './open-request-file.ts';
import { PreparedFiles, type PreparedNames } from './prepare-files.ts';
import { explainPrepared, refusedExport } from './prepare-messages.ts';
import type { RejectLimit } from './prepare-options.ts';
import { type Prepared, type PrepareOptions, prepareRequest } from './prepare.ts';
import { wrongRequest } from './wrong-file.ts';

/** How to turn an export into a request file. */
export interface Preparation {
  /** The files to write. A request named `-` goes to standard output. */
  readonly names: PreparedNames;
  readonly how: PrepareOptions;
  /** The file with the operator's list of tokens to leave out. A missing file is an empty list. */
  readonly exclusions?: string | undefined;
  readonly maxRejects: RejectLimit | undefined;
  /** Whether existing files may be replaced. */
  readonly force: boolean;
  /** The path of the export, where it differs from the typed name. */
  readonly path?: string | undefined;
  /** The command, as words after `svc`, to which an error adds the option that helps. */
  readonly words: readonly string[];
  /** Called when the request is complete and flushed to disk, before any file gets its final name. */
  readonly onWhole?: ((request: Sealed, prepared: Prepared) => void) | undefined;
}

/** A request file that was made of an export. */
export interface PreparedRequest {
  readonly prepared: Prepared;
  readonly request: Sealed;
}

/**
 * Writes the request file of an export and says on standard error what was changed.
 * @throws SvcError `refused_input` with every problem found; nothing but the file of refused rows is then written
 */
export async function prepareExport(
  context: Context,
  typed: string,
  { names, how, exclusions: list, maxRejects, force, path, words, onWhole }: Preparation,
): Promise<PreparedRequest> {
  const files = await PreparedFiles.begin(context, typed, names, force);
  try {
    const file = path ?? (typed === '-' ? await copyInput(context) : resolvePath(context, typed));
    const exclusions = list === undefined ? undefined : await openExclusions(context, list);
    const prepared = await readExport(context, typed, file, { files, how: { ...how, exclusions }, maxRejects, words });
    onWhole?.(await files.seal(), prepared);
    const request = await files.finish();
    if (names.request === '-') await copyOut(context, files.path('request'), names.request);
    explainPrepared(context, prepared, request, names);
    return { prepared, request };
  } finally {
    await files.discard();
  }
}

async function openExclusions(context: Context, typed: string): Promise<Exclusions> {
  const file = resolvePath(context, typed);
  // The name may be misspelled, and rows that nobody wants would then be paid for.
  if (!fs.existsSync(file)) context.notices.warn(`${typed} does not exist, so no row is left out because of it`);
  return Exclusions.open(file);
}

interface Reading extends Pick<Preparation, 'how' | 'maxRejects' | 'words'> {
  readonly files: PreparedFiles;
}

async function readExport(
  context: Context,
  typed: string,
  file: string,
  { files, how, maxRejects = NONE, words }: Reading,
): Promise<Prepared> {
  return readWithProgress(context, 'prepare', file, async (pieces, shown) => {
    const prepared = await prepareRequest(pieces, files.outputs(), { ...how, ...shown });
    if (!isWithinLimit(prepared, maxRejects)) {
      await files.finishOnly('rejects');
      throw refusedExport(prepared, typed, files.names.rejects);
    }
    return prepared;
  }).catch(async (error: unknown) => {
    throw (await wrongFileError(error, typed, file)) ?? suggestMap(error, typed, words);
  });
}

const NONE: RejectLimit = { rows: 0, words: '0' };

/** Returns whether the limit allows the request to be written without the refused rows. */
function isWithinLimit({ rows, problemCount, isUnusable, changes }: Prepared, limit: RejectLimit): boolean {
  if (problemCount === 0) return true;
  if (isUnusable || rows === 0) return false;
  const repeated = changes.find(({ kind }) => kind === 'repeated_tokens')?.count ?? 0;
  return problemCount <= ('share' in limit ? limit.share * (rows + repeated + problemCount) : limit.rows);
}

/** Returns the error for a file of another known kind, such as a result file; undefined for any other failure. */
async function wrongFileError(error: unknown, typed: string, file: string): Promise<SvcError | undefined> {
  if (!isSvcError(error, 'refused_input') || error.facts?.['rule'] !== 'wrong_file') return undefined;
  const kind = await recognizeFile(file);
  return kind === undefined || kind === 'request' ? undefined : wrongRequest(typed, kind, 'an export of tokens');
}

/** Adds the --map option to an error about a column that could not be identified. Returns other errors unchanged. */
function suggestMap(error: unknown, typed: string, words: readonly string[]): unknown {
  const column = isSvcError(error, 'refused_input') ? error.facts?.['needs'] : undefined;
  if (!isSvcError(error) || typeof column !== 'string') return error;
  return new SvcError(error.code, `${typed === '-' ? STANDARD_INPUT : typed}: ${error.message}`, {
    hint: 'Nothing was written. Name the column:',
    next: [...words, '--map', `${column}=NAME`],
    facts: error.facts,
  });
}
