// Reads the export of a cycle, and prepares and extends the request.

import fs from 'node:fs';
import { formOf } from '../prepare/export-head.ts';
import { prepareExport } from '../prepare/prepare-export.ts';
import { acceptWords, formWords } from '../prepare/prepare-options.ts';
import { droppedRows } from '../prepare/prepare.ts';
import { exclusionsFor } from './exclusion-list.ts';
import { type RequestPaths, joinRequests } from './join-requests.ts';
import type { RefreshDirectory, RefreshRecord } from './refresh-directory.ts';
import { type RefreshInput, announceStep, withExport } from './refresh-input.ts';
import { lostRequest, sentRequest } from './restore-request.ts';
import { copyFile, copyInput, openSpool } from '../request/spool.ts';
import { keepFileOf } from '../results/kept-columns.ts';
import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { option } from '../../cli/app/hint.ts';
import { fileSource, hashFile } from '../../client/transfer/source.ts';

/** An export with its current hash. */
export interface Export {
  readonly path: string;
  readonly sha256: string;
}

/** Hashes the export. Returns undefined if the file does not exist. */
export async function openExport(context: Context, typed: string): Promise<Export | undefined> {
  const path = typed === '-' ? await copyInput(context) : resolvePath(context, typed);
  if (!fs.existsSync(path)) return undefined;
  return { path, sha256: await hashFile(path) };
}

/** Tells whether the request has the rows of this export, read with the same options. A deleted export counts as unchanged. */
export function hasExport({ record }: RefreshDirectory, exported: Export | undefined, input: RefreshInput): boolean {
  if (exported === undefined) return true;
  const options = input.options.join('\0');
  return record.exports.some((each) => each.sha256 === exported.sha256 && each.options.join('\0') === options);
}

/** The request of an export in private files. */
export interface PreparedExport extends RequestPaths {
  /** The members of the record, once the rows of the export are in the request of the cycle. */
  readonly added: Pick<RefreshRecord, 'dropped' | 'excluded'> & { readonly exported: RefreshRecord['exports'][number] };
}

/** The request of a cycle in private files. The directory of the cycle gets it when rows of it are sent. */
export type CycleRequest = RequestPaths & Partial<PreparedExport>;

/** Checks the directory of a cycle that begins. @throws SvcError `config` for files that the refresh did not write */
export async function requireNewDirectory(directory: RefreshDirectory, input: RefreshInput): Promise<void> {
  const { request, keep, results, report, next } = directory;
  const ofNext = input.next ? [next, keepFileOf(next)] : [];
  directory.requireOwn([request, keep, results, report, ...ofNext]);
  await requireUnchanged(directory, input);
}

/** Adds the new rows of another export to the request of a cycle. */
export async function addExport(
  context: Context,
  directory: RefreshDirectory,
  input: RefreshInput,
  added: PreparedExport,
): Promise<CycleRequest> {
  if ((input.how.keep ?? []).length > 0) directory.requireOwn([directory.keep]);
  const earlier = await standingRequest(context, directory, input, {});
  return { ...added, ...(await joinRequests(context, earlier, added)) };
}

/** Returns the request of a cycle that has begun: from its directory, or restored from the sent rows or the export. */
export async function standingRequest(
  context: Context,
  directory: RefreshDirectory,
  input: RefreshInput,
  source: RequestSource,
): Promise<CycleRequest> {
  const { request, keep, record } = directory;
  await requireUnchanged(directory, input);
  const path = directory.has(request)
    ? await copyFile(context, directory.resolve(request))
    : ((await sentRequest(context, directory)) ?? (await exportedRequest(context, directory, input, source)));
  const isKept = directory.written(keep) !== undefined;
  const hasKept = isKept && directory.has(keep);
  if (isKept && !hasKept)
    context.notices.warn(`${keep} is missing: the columns kept with --keep will not be in the todo files`);
  const standing = { request: path, keep: hasKept ? directory.resolve(keep) : undefined };
  return record.requests === undefined ? standing : joinEarlier(context, directory, standing, input);
}

/** What a missing request can be made of again. */
interface RequestSource {
  readonly exported?: Export | undefined;
  /** The request of the export, if it was made before. */
  readonly prepared?: PreparedExport | undefined;
}

/** Restores a missing request from the export. @throws SvcError `local` if it does not give the same file */
async function exportedRequest(
  context: Context,
  directory: RefreshDirectory,
  input: RefreshInput,
  { exported, prepared }: RequestSource,
): Promise<string> {
  const { request } = directory;
  if (exported === undefined)
    throw lostRequest(
      request,
      input,
      `${request} is gone, and this machine cannot make it again of the rows that it sent`,
    );
  const { request: made } = prepared ?? (await prepareRequest(context, directory, input, { exported, isSent: false }));
  if (!directory.isOwn(request, await hashFile(made)))
    throw lostRequest(request, input, `${request} is gone, and ${input.export} does not give the same file now`);
  context.notices.note(`${request} was restored from ${input.export}`);
  return made;
}

/** Joins the requests of an earlier build, which wrote one for each export. */
async function joinEarlier(
  context: Context,
  directory: RefreshDirectory,
  first: RequestPaths,
  input: RefreshInput,
): Promise<RequestPaths> {
  let joined = first;
  for (const each of (directory.record.requests ?? []).slice(1)) {
    const request = fileIn(directory, each.request);
    const keep = fileIn(directory, each.keep);
    const here = await directory.hash(request);
    if (here === undefined || !directory.isOwn(request, here))
      throw lostRequest(request, input, `${request} is not as it was prepared`);
    const kept = directory.has(keep) ? directory.resolve(keep) : undefined;
    joined = await joinRequests(context, joined, { request: directory.resolve(request), keep: kept });
  }
  return joined;
}

/** Returns a file of the directory by its name in the record of an earlier build. */
function fileIn({ path }: RefreshDirectory, name: string): string {
  return `${path}/${name}`;
}

/**
 * Makes the request of an export in private files. `isSent` is false if its rows are only counted or compared: then it may be
 * implausible, and the file of refused rows stays.
 */
export async function prepareRequest(
  context: Context,
  directory: RefreshDirectory,
  input: RefreshInput,
  { exported, isSent }: { readonly exported: Export | undefined; readonly isSent: boolean },
): Promise<PreparedExport> {
  const { export: typed = '', how, maxRejects, dryRun, again } = input;
  const { list, noted } = await exclusionsFor(context, directory, input);
  const rejects = maxRejects && directory.rejects;
  const limits = [...option('--exclusions', list), ...option('--rejects', rejects)];
  const words = [...input.options, ...acceptWords(how), ...limits, ...option('--max-rejects', maxRejects?.words)];
  announceStep(context, input, 'prepare', ['au', 'prepare', typed, ...words, ...option('--out', directory.request)]);
  const isKept = isSent && !dryRun;
  if (isSent && rejects !== undefined) await requireReplaceable(directory, rejects, input);
  const request = await openSpool(context);
  const keep = (how.keep ?? []).length === 0 ? undefined : await openSpool(context);
  const refused = rejects && (await openSpool(context));
  try {
    const { prepared, how: answered } = await prepareExport(context, typed, {
      names: { request, keep, rejects: refused },
      shown: { request: directory.request, keep: keep && directory.keep, rejects: isKept ? rejects : undefined },
      how,
      exclusions: list,
      maxRejects,
      force: true,
      path: exported?.path,
      refusesImplausible: isSent,
      words: again,
    });
    const form = exported && (await formOf((await fileSource(exported.path)).open(), how));
    const read = { name: typed, sha256: exported?.sha256 ?? '', options: formWords(answered), form };
    const added = { exported: read, dropped: droppedRows(prepared), excluded: noted };
    return { request, keep, added };
  } finally {
    // The refused rows are kept even if they stop the refresh.
    if (isKept && rejects && refused && fs.existsSync(refused)) await directory.put([[rejects, refused]]);
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
