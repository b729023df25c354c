// Prepares and extends the request of a cycle.

import fs from 'node:fs';
import { formOf } from '../prepare/export-head.ts';
import { prepareExport } from '../prepare/prepare-export.ts';
import { acceptWords, formWords } from '../prepare/prepare-options.ts';
import { droppedRows } from '../prepare/prepare.ts';
import type { Export } from './cycle-export.ts';
import { exclusionsFor } from './exclusion-list.ts';
import { type RequestPaths, joinRequests } from './join-requests.ts';
import type { RefreshDirectory, RefreshRecord } from './refresh-directory.ts';
import { type RefreshInput, announceStep, withExport } from './refresh-input.ts';
import { restoreRequest } from './restore-request.ts';
import { copyFile, openSpool } from '../request/spool.ts';
import { keepFileOf } from '../results/kept-columns.ts';
import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { fileSource } from '../../client/transfer/source.ts';

/** The request of a cycle in private files. The directory of the cycle gets it when rows of it are sent. */
export interface CycleRequest extends RequestPaths {
  /** The members of the record for an export whose rows were added. */
  readonly added?: Pick<RefreshRecord, 'dropped' | 'excluded'> & {
    readonly exported: RefreshRecord['exports'][number];
    /** The request of this export alone. */
    readonly prepared: string;
  };
}

/** Prepares the request that begins a cycle. @throws SvcError `config` for files that the refresh did not write */
export async function beginRequest(
  context: Context,
  directory: RefreshDirectory,
  input: RefreshInput,
  exported: Export | undefined,
): Promise<CycleRequest> {
  const { request, keep, results, report, next } = directory;
  const ofNext = input.next ? [next, keepFileOf(next)] : [];
  directory.requireOwn([request, keep, results, report, ...ofNext]);
  await requireUnchanged(directory, input);
  return prepare(context, directory, input, exported);
}

/** Adds the new rows of another export to the request of a cycle. */
export async function addExport(
  context: Context,
  directory: RefreshDirectory,
  input: RefreshInput,
  exported: Export | undefined,
): Promise<CycleRequest> {
  if ((input.how.keep ?? []).length > 0) directory.requireOwn([directory.keep]);
  const earlier = await standingRequest(context, directory, input);
  const added = await prepare(context, directory, input, exported);
  return { ...added, ...(await joinRequests(context, earlier, added)) };
}

/** Returns the request of a cycle that has begun: from its directory, or restored from the sent rows. */
export async function standingRequest(
  context: Context,
  directory: RefreshDirectory,
  input: RefreshInput,
): Promise<CycleRequest> {
  const { request, keep } = directory;
  await requireUnchanged(directory, input);
  const path = directory.has(request)
    ? await copyFile(context, directory.resolve(request))
    : await restoreRequest(context, directory, input);
  const isKept = directory.written(keep) !== undefined;
  const hasKept = isKept && directory.has(keep);
  if (isKept && !hasKept)
    context.notices.warn(`${keep} is missing: the columns kept with --keep will not be in the todo files`);
  return { request: path, keep: hasKept ? directory.resolve(keep) : undefined };
}

/** Makes the request of an export in private files. */
async function prepare(
  context: Context,
  directory: RefreshDirectory,
  input: RefreshInput,
  exported: Export | undefined,
): Promise<CycleRequest> {
  const { export: typed = '', how, maxRejects, dryRun, again } = input;
  const { list, noted } = await exclusionsFor(context, directory, input);
  const rejects = maxRejects && directory.rejects;
  const limits = [...option('--exclusions', list), ...option('--rejects', rejects)];
  const words = [...input.options, ...acceptWords(how), ...limits, ...option('--max-rejects', maxRejects?.words)];
  announceStep(context, input, 'prepare', ['au', 'prepare', typed, ...words, ...option('--out', directory.request)]);
  if (rejects !== undefined) await requireReplaceable(directory, rejects, input);
  const request = await openSpool(context);
  const keep = (how.keep ?? []).length === 0 ? undefined : await openSpool(context);
  const refused = rejects && (await openSpool(context));
  try {
    const { prepared, how: answered } = await prepareExport(context, typed, {
      names: { request, keep, rejects: refused },
      shown: { request: directory.request, keep: keep && directory.keep, rejects },
      how,
      exclusions: list,
      maxRejects,
      force: true,
      path: exported?.path,
      words: again,
    });
    const form = exported && (await formOf((await fileSource(exported.path)).open(), how));
    const read = { name: typed, sha256: exported?.sha256 ?? '', options: formWords(answered), form };
    const added = { exported: read, prepared: request, dropped: droppedRows(prepared), excluded: noted };
    return { request, keep, added };
  } finally {
    // The refused rows are kept even if they stop the refresh.
    if (!dryRun && rejects && refused && fs.existsSync(refused)) await directory.put([[rejects, refused]]);
  }
}

/**
 * Checks that nobody changed the file of refused rows: corrected rows may be in no other file.
 * @throws SvcError `config`
 */
async function requireReplaceable(
  directory: RefreshDirectory,
  rejects: string,
  { again }: RefreshInput,
): Promise<void> {
  directory.requireOwn([rejects]);
  const here = await directory.hash(rejects);
  if (here === undefined || directory.isOwn(rejects, here)) return;
  throw new SvcError('config', `${rejects} was changed after the refresh wrote it`, {
    hint: 'Nothing was changed. Corrected rows may be in no other file: move it away, and run the same command again. Its rows can then be added as another export, with --add.',
    next: again,
    facts: { file: rejects },
  });
}

/** Checks that nobody changed the request, if it is there. @throws SvcError `config` */
async function requireUnchanged(directory: RefreshDirectory, { again }: RefreshInput): Promise<void> {
  const { request } = directory;
  const here = await directory.hash(request);
  if (here === undefined || directory.isOwn(request, here)) return;
  throw new SvcError('config', `${request} was changed after it was prepared`, {
    hint: 'Nothing was submitted now. Move the file away, and run the same command again, which creates it again:',
    next: again,
    facts: { file: request },
  });
}

/** Returns the error for a cycle without a request and without an export. */
export function notBegunError({ cycle, path }: RefreshDirectory, { again, export: typed }: RefreshInput): SvcError {
  const details = { hint: 'Name the export, which begins the cycle:', next: withExport(again, typed) };
  if (typed !== undefined) return new SvcError('local', `${typed} does not exist`, details);
  return new SvcError('usage', `${path} has no request of cycle ${cycle} to go on with`, details);
}
