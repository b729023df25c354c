// Compares a request file with the ledger before it is sent: which rows can be sent, and which rows other jobs have already.

import type { SpareJob } from '../job/spare-job.ts';
import { outlast } from '../job/wait.ts';
import { type SubmitInput, refuseFreedRows, reportDivision, reportNewCycle } from './before-sending.ts';
import { type CompareAgain, refuseOldResults } from './begin-cycle.ts';
import type { NamedFile } from './claim-texts.ts';
import { requireKnownJobs } from './compare-jobs.ts';
import type { Division } from './divide-rows.ts';
import { confirmWords } from './options.ts';
import type { ComparedFile, RowClaims } from './row-claims.ts';
import type { Comparison } from './unknown-jobs.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import { requireClearName } from '../ledger/cycle-names.ts';
import { type RequestFile, STANDARD_INPUT } from '../request/open-request-file.ts';
import { type DividedRows, withTokensOnce } from '../request/rows-file.ts';
import type { Context } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import type { Client } from '../../client/api/client.ts';
import { fileSource } from '../../client/transfer/source.ts';

/** A file to submit, with the ledger that it is compared with. */
export interface FileToSubmit {
  readonly file: RequestFile;
  readonly input: SubmitInput;
  readonly ledger: CommandLedger;
  readonly rows: RowClaims;
  readonly spareJob: () => Promise<SpareJob>;
  /** Jobs of this command that were removed before anything was sent to them. */
  readonly expired: ReadonlySet<string>;
}

/** The rows of a file: those that no job has, and those that jobs have. */
export interface DividedFile {
  readonly named: NamedFile;
  /** The comparison of the service's jobs with the ledger; undefined if the tenant is not known. */
  readonly comparing: Comparison | undefined;
  /** The rows without a claim. */
  readonly free: readonly Pick<DividedRows, 'path' | 'check'>[];
  /** The check of these rows together, where they are not all rows of the file. */
  readonly freeCheck?: Division['freeCheck'];
  readonly joined: Division['joined'];
  /** The rows whose tokens came from results of the cycle; undefined if none did. */
  readonly upToDate?: Division['upToDate'];
  /** The comparisons with other cycles that were made before the operator was asked. */
  readonly compared: readonly CompareAgain[];
}

/**
 * Compares the file with the ledger, and notes which rows other jobs have. `client` is undefined for a dry run that the service
 * did not answer.
 * @throws SvcError as `RowClaims.compare`, `refuseRowsOfOtherCycle` and `refuseOldResults`
 */
export async function divideFile(
  context: Context,
  toSubmit: FileToSubmit,
  comparing: Comparison | undefined,
  client: Client | undefined,
): Promise<DividedFile> {
  const { file, input, ledger, rows: claims } = toSubmit;
  const { name } = file;
  if (comparing === undefined) {
    requireClearName(input.cycle);
    const named = { name, cycle: input.cycle ?? '', isNamed: input.cycle !== undefined };
    context.notices.note(
      `the tenant of this profile is not known here, so ${name} was not compared with the ledger: rows that were sent before count as new`,
    );
    return { named, comparing, free: await withTokensOnce(context, file), joined: [], compared: [] };
  }
  const { tenant } = comparing;
  // A dry run changes no claim, and yet predicts by the service's time and jobs.
  const settling = input.dryRun ? undefined : client;
  const { named, division, rows, isBegun, freedSince } = await compareFile(context, toSubmit, comparing, settling);
  const unsent = { file, input, ledger, words: fileCommand(toSubmit) };
  const now = client?.now() ?? context.clock.now();
  const cycle = { tenant, cycle: named.cycle, rows, client };
  const compared: CompareAgain[] = [];
  if (!isBegun) {
    requireClearName(input.cycle);
    compared.push(await reportNewCycle(context, unsent, cycle));
  } else if (freedSince !== undefined) {
    for (const { path, check } of division?.free ?? [file]) {
      const freeRows = await claims.read(tenant, { sha256: check.sha256, source: await fileSource(path) });
      compared.push(await refuseFreedRows(context, unsent, { ...cycle, rows: freeRows }, freedSince));
    }
  }
  if (division === undefined) return { named, comparing, free: [file], joined: [], compared };
  if (division.free.length === 0 && !named.isNamed) {
    const entries = await (await ledger.open(tenant)).cycle(named.cycle).read();
    const { words } = unsent;
    refuseOldResults(entries, { name, cycle: named.cycle, words, joined: division.joined, now });
  }
  reportDivision(context, file, division, named, now);
  return { named, comparing, ...division, compared };
}

/** Compares the rows of a file with the ledger. Without a client, no job is read. @throws SvcError as `RowClaims.compare` */
export async function compareFile(
  context: Context,
  { file, input, ledger, rows, spareJob, expired }: FileToSubmit,
  comparing: Comparison,
  client: Client | undefined,
): Promise<ComparedFile> {
  if (client) ledger.beforeFirstEntry(() => requireKnownJobs(client, comparing, spareJob));
  const createJob = async () => (await spareJob()).get();
  // With a shared ledger, another machine may have sent the file of a job that this command saw expire.
  const jobsWithoutFile = ledger.isShared ? undefined : expired;
  const toCompare = { tenant: comparing.tenant, file, cycle: input.cycle, createJob, jobsWithoutFile };
  const compared = await outlast(context, input.outlasts, () => rows.compare(context, client, toCompare));
  // From here on, the upload compares the jobs itself.
  ledger.beforeFirstEntry(undefined);
  return compared;
}

/** Returns the command that submits a file, as words. */
export function fileCommand({ file, input }: Pick<FileToSubmit, 'file' | 'input'>, cycle?: string): readonly string[] {
  const { accept, confirmed, onlyRecorded, options = [] } = input;
  const name = file.name === STANDARD_INPUT ? '-' : file.name;
  const recorded = onlyRecorded ? ['--only-recorded'] : [];
  const chosen = [...option('--accept', accept), ...confirmWords(confirmed), ...recorded, ...options];
  return ['au', 'submit', name, ...chosen, ...option('--cycle', cycle)];
}
