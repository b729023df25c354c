// Checks, notes and questions before the rows of a file are sent and billed.

import { type CompareAgain, type OtherCycle, billedAgainText, otherCycles, refuseRowsOfOthers } from './begin-cycle.ts';
import { type NamedFile, cycleText, senderText } from './claim-texts.ts';
import type { Division } from './divide-rows.ts';
import type { Confirmed } from './options.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import { isFileCycle } from '../ledger/cycle-names.ts';
import { whenKnownText } from '../ledger/doubt.ts';
import type { FileRows } from '../ledger/request-rows.ts';
import type { Check } from '../request/checks.ts';
import { implausibleFile } from '../request/implausible-file.ts';
import { type RequestFile, checkedFileRow, checkedFileView, noteOverview } from '../request/open-request-file.ts';
import { strangeTokens } from '../request/overview.ts';
import type { RequestFileCheck } from '../request/request-file.ts';
import type { DividedRows } from '../request/rows-file.ts';
import { SvcError } from '../../base/errors.ts';
import { isOn } from '../../base/system.ts';
import type { Context } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { confirmCost, tenantText } from '../../cli/app/tenant-mark.ts';
import { requireDirectory } from '../../cli/config/paths.ts';
import { requireYes } from '../../cli/output/prompt.ts';
import { countText, fixedPercent, formatNumber } from '../../cli/output/number.ts';
import type { Client } from '../../client/api/client.ts';

/** The arguments and options of a submission. */
export interface SubmitInput {
  /** The request file as typed. */
  readonly file: string;
  /** Where to write the results. */
  readonly out: string | undefined;
  readonly wait: boolean;
  readonly force: boolean;
  readonly cycle: string | undefined;
  readonly dryRun: boolean;
  readonly confirmed: Confirmed;
  /** The checks of the whole file that must not stop the submission. */
  readonly accept: readonly Check[];
  /** Whether the checks of the whole file ran when svc prepared the request. */
  readonly isPrepared?: boolean;
  /** Whether the operator named the columns of the export, so that no header shows whether they changed places. */
  readonly namesColumns?: boolean;
  /** Whether the command continues through an outage of the service. */
  readonly outlasts: boolean;
  /** Whether jobs that the ledger does not know stop the upload. */
  readonly onlyRecorded: boolean;
  /** The other typed options, repeated in printed commands. */
  readonly options?: readonly string[] | undefined;
  /** Checks the tenant of the key before anything is sent. */
  readonly checkTenant?: ((tenant: string) => void) | undefined;
}

/** A file whose tokens need more jobs than this, one for each merchant, must be confirmed. */
const MAX_UNCONFIRMED_JOBS = 5;

/** A file that shares fewer of its rows than this with each earlier cycle is probably the wrong file. A cycle of fewer rows shows nothing. */
const MIN_SHARE_OF_CYCLE = 0.1;

type FreeRows = Pick<DividedRows, 'check'>;

/** A file before any of its rows is sent. */
interface UnsentFile {
  readonly file: RequestFile;
  readonly input: SubmitInput;
  readonly ledger: CommandLedger;
  /** The command that submits the file. */
  readonly words: readonly string[];
}

/** A cycle whose first file is about to be sent. */
interface NewCycle {
  readonly tenant: string;
  /** The name of the cycle in the ledger. */
  readonly cycle: string;
  readonly rows: FileRows;
  /** Undefined for a dry run that the service did not answer. */
  readonly client: Client | undefined;
}

/**
 * Compares the first file of a cycle with the other cycles, and notes the tenant of the new cycle.
 * @throws SvcError as `refuseRowsOfOtherCycle`
 */
export async function reportNewCycle(
  context: Context,
  { file, input, ledger, words }: UnsentFile,
  { tenant, cycle, rows, client }: NewCycle,
): Promise<CompareAgain> {
  const { notices, settings } = context;
  const { name, check } = file;
  const readOthers = async () => otherCycles(await ledger.open(tenant), cycle, rows, check.sha256);
  const others = await readOthers();
  const compareAgain = await refuseSharedRows(context, { file, input, words }, { rows, client }, others, readOthers);
  const again = billedAgainText(name, others, client?.now() ?? context.clock.now());
  if (again !== undefined && !input.confirmed.payAgain) notices.warn(again);
  await warnOfEmptyState(context, { ledger, input }, tenant);
  if (input.cycle === undefined) return compareAgain;
  const who = tenantText(context, tenant);
  notices.note(`first upload of cycle ${cycle}: profile ${settings.profile.value}, tenant ${who}`);
  const [most] = others
    .filter((each) => !isFileCycle(each.name) && (each.rows ?? 0) >= rows.size * MIN_SHARE_OF_CYCLE)
    .toSorted((one, other) => other.shared - one.shared);
  const share = most === undefined ? 1 : most.shared / rows.size;
  if (most === undefined || share >= MIN_SHARE_OF_CYCLE) return compareAgain;
  const few = `only ${fixedPercent(share)} of the rows of ${name} were in cycle ${most.name}, which has the most of them`;
  if (input.namesColumns === true && !input.accept.includes('columns')) throw movedColumns(few, words, input.cycle);
  notices.warn(`${few}: is the profile wrong, or the export?`);
  return compareAgain;
}

/** Returns the error for named columns that may have changed places, as where a customer would be sent as the merchant. */
function movedColumns(few: string, words: readonly string[], cycle: string): SvcError {
  return new SvcError('refused_input', `${few}, and --columns may name the columns of the export in another order`, {
    hint: 'Nothing was submitted. Compare the export with the last one, and name its columns in their order with --columns. If all of its rows are new, accept them:',
    next: [...words, ...option('--cycle', cycle), '--accept', 'columns'],
    facts: { check: 'columns' },
  });
}

/**
 * Compares freed rows of a cycle that goes on with the cycles that got rows since it began: such a cycle may have these rows.
 * @throws SvcError as `refuseRowsOfOtherCycle`
 */
export async function refuseFreedRows(
  context: Context,
  { file, input, ledger, words }: UnsentFile,
  { tenant, cycle, rows, client }: NewCycle,
  since: number,
): Promise<CompareAgain> {
  const readOthers = async () => {
    const others = await otherCycles(await ledger.open(tenant), cycle, rows, file.check.sha256);
    return others.filter(({ lastSent }) => lastSent >= since);
  };
  return refuseSharedRows(context, { file, input, words }, { rows, client }, await readOthers(), readOthers);
}

/** Refuses the rows of a file that other cycles have. @throws SvcError as `refuseRowsOfOtherCycle` */
async function refuseSharedRows(
  context: Context,
  { file, input, words }: Pick<UnsentFile, 'file' | 'input' | 'words'>,
  { rows, client }: Pick<NewCycle, 'rows' | 'client'>,
  others: readonly OtherCycle[],
  readOthers: () => Promise<readonly OtherCycle[]>,
): Promise<CompareAgain> {
  if (input.confirmed.payAgain) return async () => undefined;
  return refuseRowsOfOthers(client, others, readOthers, {
    name: file.name,
    rows: rows.size,
    cycle: input.cycle,
    words,
    now: client?.now() ?? context.clock.now(),
    isSandbox: serviceOf(context) === 'sandbox',
  });
}

/** Notes which rows of a file other jobs have. `now` is the service's time. */
export function reportDivision(
  { notices }: Context,
  { name, check }: Pick<RequestFile, 'name' | 'check'>,
  { free, joined, upToDate }: Division,
  named: NamedFile,
  now: number,
): void {
  const ofFile = `of ${countText(check.rows, 'row')} of ${name}`;
  for (const joinedRows of joined) {
    const all = check.rows === 1 ? 'the only row' : `all ${countText(check.rows, 'row')}`;
    const which = joinedRows.rows === check.rows ? `${all} of ${name}` : `${formatNumber(joinedRows.rows)} ${ofFile}`;
    const isDoubtful = joinedRows.status === undefined && !joinedRows.wasRead;
    const doubt = isDoubtful ? `; whether the service has them ${whenKnownText(joinedRows.claim, now)}` : '';
    const text = `${which} ${joinedRows.rows === 1 ? 'is' : 'are'} in ${cycleText(named)} already: ${senderText(joinedRows, now)}${doubt}`;
    if (isDoubtful) notices.warn(text);
    else notices.note(text);
  }
  if (upToDate.size > 0)
    notices.note(
      `${formatNumber(upToDate.size)} ${ofFile} ${upToDate.size === 1 ? 'has a token' : 'have tokens'} that results of ${cycleText(named)} made: up to date, and not sent`,
    );
  const [, second] = free;
  if (second === undefined) return;
  const { rows } = second.check;
  notices.note(
    `${countText(rows, 'token')} of ${name} ${rows === 1 ? 'has' : 'have'} rows for several merchants: a token stands once in a job, so that ${countText(countJobs(free), 'job')} are needed`,
  );
}

/**
 * Checks all free rows of a file together, and notes an overview of them. Returns what is strange about their tokens.
 * @throws SvcError `refused_input` for rows that are probably a mistake
 */
export function reviewFreeRows(
  context: Context,
  { file, input, words }: UnsentFile,
  { free, freeCheck }: { readonly free: readonly FreeRows[]; readonly freeCheck?: RequestFileCheck | undefined },
): string | undefined {
  const { accept, isPrepared } = input;
  const { check, submitted, name } = file;
  const rows = countRows(free);
  if (isPrepared === true || rows === 0) return undefined;
  const isWhole = rows === check.rows;
  const reviewed = isWhole ? submitted : (freeCheck ?? submitted);
  const refused = implausibleFile(reviewed, { name, words, accept, hasLines: isWhole });
  if (refused !== undefined) throw refused;
  noteOverview(context, undefined, reviewed);
  return reviewed.overview && strangeTokens(reviewed.overview);
}

/** Asks before billable rows are sent. `strangeText` is what `reviewFreeRows` found. */
export async function confirmRows(
  context: Context,
  { file }: Pick<UnsentFile, 'file'>,
  free: readonly FreeRows[],
  strangeText?: string,
): Promise<void> {
  const rows = countRows(free);
  if (rows === 0) return;
  const all = file.check.rows;
  const strange = strangeText === undefined ? '' : ` (${strangeText})`;
  const what = all === rows ? countText(rows, 'row') : `only ${formatNumber(rows)} of ${countText(all, 'row')}`;
  const choice = { unchanged: 'nothing was submitted', isUnexpected: all !== rows };
  await confirmCost(context, `submit ${what} in ${countText(countJobs(free), 'job')}${strange}`, choice);
}

/** Asks before a file is sent in many jobs because one token has many merchants, which may be a mistake. A dry run does not ask. */
export async function confirmMerchants(
  context: Context,
  { file, input, words }: Pick<UnsentFile, 'file' | 'input' | 'words'>,
  count: number,
): Promise<void> {
  if (count <= MAX_UNCONFIRMED_JOBS || input.accept.includes('merchants')) return;
  const what = `a token of ${file.name} has ${count} merchants, so that its rows need ${count} jobs`;
  const prompts = context.prompts();
  if (prompts.canAsk) {
    if (input.dryRun) return;
    return requireYes(await prompts.promptText(`${what}. Submit them? [y/N]`, ''), 'nothing was submitted');
  }
  throw new SvcError('conflict', `${what}; nothing was submitted`, {
    hint: 'A token stands once in a job, because results name no merchant. If the file is meant so, accept the jobs:',
    next: [...words, '--accept', 'merchants'],
  });
}

/** Warns in CI and in containers, whose files are often deleted, that an empty state directory knows no billed rows. */
async function warnOfEmptyState(
  { system, notices }: Context,
  { ledger, input }: Pick<UnsentFile, 'ledger' | 'input'>,
  tenant: string,
): Promise<void> {
  const isInCi = isOn(system.env['CI']);
  // svc's image sets this variable, and so does podman.
  if (ledger.isShared || input.dryRun || (!isInCi && !system.env['container'])) return;
  if ((await (await ledger.open(tenant)).cycleNames()).length > 0) return;
  const advice = isInCi
    ? 'Set a ledger in a bucket (SVC_LEDGER), or keep this directory from one CI job to the next (SVC_STATE_DIR names it)'
    : 'Set a ledger in a bucket (SVC_LEDGER), or mount a volume there: the next container has to know what this one paid for';
  notices.warn(
    `the state directory ${requireDirectory(system, 'state')} was empty: if this file was submitted before, it is now submitted and paid for again. ${advice}`,
  );
}

/** Prints the plan of a dry run. */
export async function showPlan(
  context: Context,
  { name, check, submitted }: RequestFile,
  free: readonly FreeRows[],
): Promise<void> {
  const print = await recordPrinter(context, checkedFileView);
  const jobs = countJobs(free);
  await print(checkedFileRow(name, check, submitted, jobs));
  const sent = jobs === 0 ? 'nothing' : `${countText(jobs, 'job')} for ${countText(countRows(free), 'row')}`;
  context.notices.note(`dry run: nothing was sent; it would create ${sent}`);
}

export function countRows(files: readonly FreeRows[]): number {
  return files.reduce((sum, { check }) => sum + check.rows, 0);
}

function countJobs(files: readonly FreeRows[]): number {
  return files.reduce((sum, { check }) => sum + check.parts.length, 0);
}
