import path from 'node:path';
import type { Context } from '../../cli/app/command.ts';
import { fileSource, hashIfReadable } from '../../client/transfer/source.ts';
import { uploadedRows } from '../run/part-source.ts';
import { mayBePaid, type Part } from '../run/part.ts';
import { findRequest } from '../run/request-copy.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { deliveryOf } from './claims.ts';
import { endClaim } from './end-claim.ts';
import type { EntryBody } from './entry.ts';
import { type FileRows, fileCycleIn } from './earlier-keys.ts';
import { hasClaim } from './has-claim.ts';
import { unknownRowsCycle } from './file-cycle.ts';
import type { Ledger } from './ledger.ts';
import { doneOf, readingOf } from './reading.ts';
import { rowsOf } from './request-rows.ts';

/**
 * Enters what a run has paid for, or may have, into a ledger that began after it. Jobs are compared and rows are not,
 * because what is paid is paid. Entering a run twice changes nothing. `claimed` are jobs that had rows, whatever the record
 * says of them.
 */
export async function enterRun(
  context: Context,
  ledger: Ledger,
  run: RunDirectory,
  claimed: ReadonlySet<string> = new Set(),
): Promise<void> {
  const parts = run.record.parts.filter(
    (part) => part.job !== undefined && part.joined === undefined && (mayBePaid(part) || claimed.has(part.job)),
  );
  if (parts.length === 0) return;
  const request = (await findRequest(context, run))?.file ?? (await originalOf(run));
  const name = await cycleOf(ledger, run, request);
  for (const part of parts) await enterPart(ledger, name, run, part, request);
}

async function enterPart(
  ledger: Ledger,
  name: string,
  run: RunDirectory,
  part: Part,
  request: string | undefined,
): Promise<void> {
  const { job = '' } = part;
  const cycle = (await ledger.cycleOfJob(job)) ?? ledger.cycle(name);
  const isKnown = hasClaim(await cycle.read(), job);
  if (!isKnown) {
    const source = await uploadedRows(part, run, request);
    const rows = source && (await rowsOf(ledger.salt, source));
    const body = claimOf(run, part, rows && (await cycle.createRowSet(rows)), rows?.size ?? part.rows);
    await cycle.append(async (entries) => (hasClaim(entries, job) ? undefined : body));
  }
  // Until its claim stands, other machines must not take the job for a known one: the service has its file.
  await ledger.mark(job, name);
  if (part.state !== 'downloaded' || deliveryOf(await cycle.read(), job)) return;
  const isKept = (await hashIfReadable(run.resultsFile(part))) === part.results.sha256;
  const isDelivered = run.record.results !== undefined;
  // Without the file, the tokens that it made are unknown.
  const reading = isKept ? await readingOf(ledger.salt, run.resultsFile(part)) : undefined;
  await endClaim(cycle, job, { ...(await doneOf(cycle, job, reading)), ...(!isDelivered && { delivered: false }) });
}

function claimOf({ record }: RunDirectory, part: Part, rowSet: string | undefined, rows: number): EntryBody {
  const { input } = record;
  return {
    kind: 'claim',
    job: part.job ?? '',
    keys: 2,
    created_at: part.sent_at ?? record.created_at,
    expires_at: part.expires_at ?? null,
    row_set: rowSet ?? null,
    rows,
    run: record.id,
    part: part.number,
    file: { name: path.basename(input.name), sha256: input.sha256, rows: input.rows },
    bytes: part.bytes,
    sha256: part.sha256,
  };
}

/** Returns the file of a run whose copy was pruned, if it has not changed. */
async function originalOf({ record: { input }, requestFile }: RunDirectory): Promise<string | undefined> {
  if (requestFile !== undefined || input.path === undefined) return undefined;
  return (await hashIfReadable(input.path)) === input.sha256 ? input.path : undefined;
}

/** Returns the cycle of a run in the ledger. A file without a cycle whose rows are unknown gets one by its hash. */
async function cycleOf(ledger: Ledger, { record }: RunDirectory, file: string | undefined): Promise<string> {
  const { cycle, input } = record;
  if (cycle !== undefined) return cycle;
  if (file === undefined) return unknownRowsCycle(input.sha256);
  return fileCycleIn(ledger, await fileRowsOf(ledger, await fileSource(file)));
}

async function fileRowsOf(ledger: Ledger, source: Parameters<typeof rowsOf>[1]): Promise<FileRows> {
  const under = (salt: string): ReturnType<typeof rowsOf> => rowsOf(salt, source);
  return { rows: await under(ledger.salt), under };
}
