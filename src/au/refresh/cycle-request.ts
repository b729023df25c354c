import { SvcError } from '../../base/errors.ts';
import { writeWhole } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { fileSource, hashIfReadable } from '../../client/transfer/source.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import { readRequest, rowKeyOf } from '../request/request-lines.ts';
import { openSpool } from '../request/spool-output.ts';
import { TokenTable } from '../request/token-table.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import type { RefreshDirectory, Refreshed } from './refresh-directory.ts';
import { notedTenant } from './refresh-tenant.ts';

/** The rows of the requests of a cycle that have results, each once. */
export interface CycleRequest {
  /** The request file of the only request, or a private file. */
  readonly path: string;
  readonly rows: number;
}

/**
 * Joins the request files at the given places of a cycle. A row that several of them have comes from the last one, as its
 * result does.
 * @throws SvcError `local` if a request file is gone
 */
export async function cycleRequest(
  context: Context,
  directory: RefreshDirectory,
  places: readonly number[],
): Promise<CycleRequest> {
  const files: string[] = [];
  for (const place of places) files.push(await requestAt(context, directory, place));
  const [only = ''] = files;
  if (files.length === 1) return { path: only, rows: directory.requests[places[0] ?? 0]?.rows ?? 0 };
  const newest = new TokenTable({ words: 3 });
  for (const [index, file] of files.entries())
    for await (const rows of readRequest((await fileSource(file)).open()))
      for (const row of rows) newest.set(rowKeyOf(row), index + 1);
  const path = await openSpool(context);
  await writeWhole(path, true, async (draft) => {
    await draft.write(`${REQUEST_HEADER}\n`);
    for (const [index, file] of files.entries())
      for await (const rows of readRequest((await fileSource(file)).open())) {
        const own = rows.filter((row) => newest.get(rowKeyOf(row)) === index + 1);
        await draft.write(own.map(({ line }) => `${line}\n`).join(''));
      }
  });
  return { path, rows: newest.size };
}

async function requestAt(context: Context, directory: RefreshDirectory, place: number): Promise<string> {
  const found = await findRequest(context, directory, place);
  if (found !== undefined) return found;
  const { request } = directory.filesOf(place);
  throw new SvcError('local', `${request} is not as it was prepared, and this machine keeps no copy of it`, {
    hint: 'The files of the cycle were left as they are. Put the file back from a copy, and run the same command again.',
    facts: { file: request },
  });
}

/**
 * Returns the path of a request file as it was prepared: in the directory of the cycle, or the rows that were sent in its only
 * job. Undefined if both are gone.
 */
async function findRequest(context: Context, directory: RefreshDirectory, place: number): Promise<string | undefined> {
  const { request } = directory.filesOf(place);
  const known = directory.requests[place];
  if (directory.has(request) && (await directory.hash(request)) === known?.request_sha256)
    return directory.resolve(request);
  return known?.submitted ? sentRequest(context, directory, known) : undefined;
}

/** Returns the path of the rows that this machine sent, if a single job has all rows of a request. */
export async function sentRequest(
  context: Context,
  directory: RefreshDirectory,
  { request_sha256: sha256 }: Pick<Refreshed, 'request_sha256'>,
): Promise<string | undefined> {
  const tenant = notedTenant(directory);
  if (tenant === undefined) return undefined;
  const ledger = new CommandLedger(context, { onlyReads: true });
  const claims = await ledger.claimsOf(tenant, directory.cycle);
  for (const { job } of claims.filter((claim) => claim.sha256 === sha256)) {
    const { request } = ledger.jobFiles(job);
    if ((await hashIfReadable(request)) === sha256) return request;
  }
  return undefined;
}

/** Returns the paths of the requests at some places; undefined if one is not readable. */
export async function findRequests(
  context: Context,
  directory: RefreshDirectory,
  places: readonly number[],
): Promise<readonly string[] | undefined> {
  const requests: string[] = [];
  for (const place of places) {
    const request = await findRequest(context, directory, place);
    if (request === undefined) return undefined;
    requests.push(request);
  }
  return requests;
}
