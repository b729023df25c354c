// Prepares, extends and restores the request of a cycle.

import fs from 'node:fs';
import { SvcError } from '../../base/errors.ts';
import { writeWhole } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { option } from '../../cli/app/hint.ts';
import { fileSource, hashFile, hashIfReadable } from '../../client/transfer/source.ts';
import { standingClaims } from '../ledger/claims.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { prepareExport } from '../prepare/prepare-export.ts';
import { acceptWords, formWords } from '../prepare/prepare-options.ts';
import { formOf } from '../prepare/export-head.ts';
import { droppedRows } from '../prepare/prepare.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import { readRequest, type RequestRow, rowKeyOf } from '../request/request-lines.ts';
import { copyFile, copyInput, openSpool } from '../request/spool.ts';
import { keepFileOf, KEPT_COLUMNS, openKept } from '../results/kept-columns.ts';
import { exclusionsFor } from './exclusion-list.ts';
import type { RefreshDirectory, RefreshRecord } from './refresh-directory.ts';
import { announceStep, type RefreshInput, withExport } from './refresh-input.ts';
import { csvRow } from '../../cli/output/csv.ts';
import { TokenTable } from '../request/token-table.ts';
import { TokenRows } from '../results/rows-of-request.ts';

/** The request of a cycle in private files. The directory of the cycle gets it when rows of it are sent. */
export interface CycleRequest extends RequestPaths {
  /** The members of the record for an export whose rows were added. */
  readonly added?: Pick<RefreshRecord, 'dropped' | 'excluded'> & {
    readonly exported: RefreshRecord['exports'][number];
  };
}

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
  const here = await directory.hash(request);
  if (here !== undefined && !directory.isOwn(request, here)) throw changedRequest(directory, input);
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
  const earlier = await standingRequest(context, directory, input, undefined);
  const added = await prepare(context, directory, input, exported);
  return { ...added, ...(await joinRequests(context, earlier, added)) };
}

/** Returns the request of a cycle that has begun: from its directory, or restored from the sent rows or the export. */
export async function standingRequest(
  context: Context,
  directory: RefreshDirectory,
  input: RefreshInput,
  exported: Export | undefined,
): Promise<CycleRequest> {
  const { request, keep, record } = directory;
  const here = await directory.hash(request);
  if (here !== undefined && !directory.isOwn(request, here)) throw changedRequest(directory, input);
  const path =
    here === undefined
      ? await restoreRequest(context, directory, input, exported)
      : await copyFile(context, directory.resolve(request));
  const isKept = directory.written(keep) !== undefined;
  const hasKept = isKept && directory.has(keep);
  if (isKept && !hasKept)
    context.notices.warn(`${keep} is gone: the files of what to do have none of the columns that it kept`);
  const standing = { request: path, keep: hasKept ? directory.resolve(keep) : undefined };
  return record.requests === undefined ? standing : joinEarlier(context, directory, standing, input);
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
    const [request, keep] = [each.request, each.keep].map((name) => `${directory.path}/${name}`) as [string, string];
    const here = await directory.hash(request);
    if (here === undefined || !directory.isOwn(request, here)) throw lostRequest(request, input);
    const kept = directory.has(keep) ? directory.resolve(keep) : undefined;
    joined = await joinRequests(context, joined, { request: directory.resolve(request), keep: kept });
  }
  return joined;
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
    return { request, keep, added: { exported: read, dropped: droppedRows(prepared), excluded: noted } };
  } finally {
    // The refused rows are kept even if they stop the refresh.
    if (!dryRun && rejects && refused && fs.existsSync(refused)) await directory.put([[rejects, refused]]);
  }
}

/** Prepares an export in a private file without adding it to the cycle. Returns the path. */
export async function prepareAside(
  context: Context,
  directory: RefreshDirectory,
  input: RefreshInput,
  exported: Export | undefined,
): Promise<string> {
  const request = await openSpool(context);
  await prepareExport(context, input.export ?? '', {
    names: { request, rejects: input.maxRejects && (await openSpool(context)) },
    how: input.how,
    exclusions: (await exclusionsFor(context, directory, input)).list,
    maxRejects: input.maxRejects,
    force: true,
    path: exported?.path,
    words: input.again,
    refusesImplausible: false,
  });
  return request;
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

/** Restores a missing request from the sent rows or the export. @throws SvcError `local` if neither gives the same file */
async function restoreRequest(
  context: Context,
  directory: RefreshDirectory,
  input: RefreshInput,
  exported: Export | undefined,
): Promise<string> {
  const { request } = directory;
  const isSame = async (path: string): Promise<boolean> => directory.isOwn(request, await hashFile(path));
  const sent = await sentRows(context, directory);
  if (sent !== undefined && (await isSame(sent))) {
    context.notices.note(`${request} was restored from the rows that this machine sent`);
    return sent;
  }
  const prepared = exported && (await prepareAside(context, directory, input, exported));
  if (prepared !== undefined && (await isSame(prepared))) {
    context.notices.note(`${request} was restored from ${input.export}`);
    return prepared;
  }
  if (exported !== undefined)
    throw lostRequest(request, input, `${request} is gone, and ${input.export} does not give the same file now`);
  if (sent !== undefined)
    throw lostRequest(
      request,
      input,
      `${request} is gone, and the rows that this machine sent do not give the same file`,
    );
  throw lostRequest(request, input);
}

/** Returns a private file with the rows that this machine sent in the cycle; undefined without any. */
async function sentRows(context: Context, directory: RefreshDirectory): Promise<string | undefined> {
  const { tenant } = directory;
  if (tenant === undefined) return undefined;
  const ledger = new CommandLedger(context, { onlyReads: true });
  const entries = await (await ledger.open(tenant)).cycle(directory.cycle).read();
  const files: string[] = [];
  for (const { job, sha256 } of standingClaims(entries)) {
    const { request } = ledger.jobFiles(job);
    if ((await hashIfReadable(request)) === sha256) files.push(request);
  }
  if (files.length === 0) return undefined;
  const path = await openSpool(context);
  await writeWhole(path, true, async (draft) => {
    await draft.write(`${REQUEST_HEADER}\n`);
    for (const file of files)
      for await (const rows of readRequest((await fileSource(file)).open()))
        await draft.write(rows.map(({ line }) => `${line}\n`).join(''));
  });
  return path;
}

function lostRequest(
  file: string,
  { cycle, export: typed }: RefreshInput,
  message = `${file} is not as it was prepared, and this machine keeps no copy of it`,
): SvcError {
  return new SvcError('local', message, {
    hint: `The files of the cycle were left as they are. Put the file back from a copy${typed === undefined ? ', or bring back the export' : ''}, and run the same command again. To get the results alone:`,
    next: ['au', 'resume', cycle, '--wait'],
    facts: { file },
  });
}

function changedRequest({ request }: RefreshDirectory, { again }: RefreshInput): SvcError {
  return new SvcError('config', `${request} was changed after it was prepared`, {
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

/** The paths of a request and of its kept columns. */
interface RequestPaths {
  readonly request: string;
  readonly keep: string | undefined;
}

/** Joins two requests in private files. A row in both appears once, with the kept columns of the added request. */
async function joinRequests(context: Context, earlier: RequestPaths, added: RequestPaths): Promise<RequestPaths> {
  const request = await openSpool(context);
  const written = new TokenTable();
  await writeWhole(request, true, async (draft) => {
    await draft.write(`${REQUEST_HEADER}\n`);
    for (const { request: path } of [earlier, added])
      for await (const rows of readRequest((await fileSource(path)).open())) {
        const newRows = rows.filter((row) => written.setIfAbsent(rowKeyOf(row), 1) === 0);
        await draft.write(newRows.map(({ line }) => `${line}\n`).join(''));
      }
  });
  if (earlier.keep === undefined && added.keep === undefined) return { request, keep: undefined };
  return { request, keep: await joinKept(context, request, [earlier, added]) };
}

/** Writes the kept columns of a joined request. For a row with columns in several sources, the last source counts. */
async function joinKept(context: Context, request: string, sources: readonly RequestPaths[]): Promise<string> {
  const path = await openSpool(context);
  const kept = await Promise.all(sources.map((source) => keptOf(context, source)));
  const names = [...new Set(kept.flatMap((each) => each.names))];
  await writeWhole(path, true, async (draft) => {
    await draft.write(csvRow([...KEPT_COLUMNS, ...names]));
    let number = 0;
    for await (const rows of readRequest((await fileSource(request)).open()))
      for (const row of rows) {
        const cells = new Map<string, string>(kept.flatMap((each) => each.cellsOf(row)));
        await draft.write(csvRow([String((number += 1)), row.token, ...names.map((name) => cells.get(name) ?? '')]));
      }
  });
  return path;
}

/** Returns the kept columns of the rows of a request by their names; none for the rows of other requests. */
async function keptOf(context: Context, { request, keep }: RequestPaths) {
  const kept = await openKept(context, keep);
  if (kept === undefined) return { names: [], cellsOf: (): [string, string][] => [] };
  const source = await fileSource(request);
  const tokens = await TokenRows.of(source);
  const placeOf = tokens.occurrenceCounter();
  const places = new TokenTable();
  for await (const rows of readRequest(source.open()))
    for (const row of rows) places.set(rowKeyOf(row), placeOf(row.token) + 1);
  const cellsOf = (row: RequestRow): [string, string][] => {
    const place = places.get(rowKeyOf(row));
    if (place === 0 || !kept.has(row.token)) return [];
    const cells = kept.cellsAt(row.token, place - 1, tokens.countRows(row.token));
    return kept.names.map((name, at) => [name, cells[at] ?? '']);
  };
  return { names: kept.names, cellsOf };
}
