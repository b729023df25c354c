import { SvcError } from '../../base/errors.ts';
import { isOn } from '../../base/system.ts';
import type { Context } from '../../cli/app/command.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { confirmCost, tenantText } from '../../cli/app/tenant-mark.ts';
import { requireDirectory } from '../../cli/config/paths.ts';
import { requireYes } from '../../cli/output/prompt.ts';
import { countText, fixedPercent, formatNumber } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { knownText } from '../ledger/doubt.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import type { FileRows } from '../ledger/request-rows.ts';
import type { Check } from '../request/checks.ts';
import { implausibleFile } from '../request/implausible-file.ts';
import { checkedFileRow, checkedFileView, noteOverview, type RequestFile } from '../request/open-request-file.ts';
import { strangeTokens } from '../request/overview.ts';
import type { DividedRows } from '../request/rows-file.ts';
import { otherCycles, requireOtherRows } from './begin-cycle.ts';
import type { Confirmed } from './options.ts';
import { cycleText, type Division, type NamedFile, whoText } from './row-claims.ts';

/** What the operator asked for. */
export interface Submitting {
  /** The request file as typed. */
  readonly file: string;
  /** Where to write the results. */
  readonly out: string | undefined;
  readonly wait: boolean;
  readonly force: boolean;
  readonly cycle: string | undefined;
  readonly dryRun: boolean;
  readonly confirmed: Confirmed;
  /** The checks of the file as a whole whose findings the operator accepts. */
  readonly accept: readonly Check[];
  /** Whether its rows were looked at as a whole when the request was made. */
  readonly isPrepared?: boolean;
  /** Whether the command goes on through an outage of the service. */
  readonly outlasts: boolean;
  /** Whether jobs that the ledger does not know stop the upload. */
  readonly onlyRecorded: boolean;
  /** The other options as typed, which printed commands keep. */
  readonly options?: readonly string[] | undefined;
  /** Checks the tenant of the key before anything is sent. */
  readonly checkTenant?: ((tenant: string) => void) | undefined;
}

/** The number of jobs from which on a file for many merchants must be confirmed. */
const MOST_WITHOUT_A_QUESTION = 5;

/** The share of rows in the last cycle below which a file is probably the wrong one. */
const LEAST_SHARE = 0.1;

type FreeRows = Pick<DividedRows, 'check'>;

/** A submission of which nothing is sent yet. */
interface Unsent {
  readonly file: RequestFile;
  readonly input: Submitting;
  readonly ledger: CommandLedger;
  /** The command that submits the file. */
  readonly words: readonly string[];
}

/** A cycle that begins with a file. */
interface FirstFile {
  readonly tenant: string;
  /** The name of the cycle in the ledger. */
  readonly cycle: string;
  readonly rows: FileRows;
  /** Undefined for a dry run, which asks the service nothing. */
  readonly client: Client | undefined;
}

/** Checks the first file of a cycle against the other cycles, and shows for whom the cycle begins. */
export async function reportBeginning(
  context: Context,
  { file, input, ledger, words }: Unsent,
  { tenant, cycle, rows, client }: FirstFile,
): Promise<void> {
  const { notices, settings } = context;
  const { name, check } = file;
  const others = await otherCycles(await ledger.open(tenant), cycle, rows, check.sha256);
  const beginning = {
    name,
    rows: rows.size,
    cycle: input.cycle,
    words,
    now: client?.now() ?? context.clock.now(),
    isSandbox: serviceOf(context) === 'sandbox',
  };
  if (!input.confirmed.payAgain) await requireOtherRows(client, others, beginning);
  await warnOfNewState(context, { ledger, input }, tenant);
  if (input.cycle === undefined) return;
  const who = tenantText(context, tenant);
  notices.note(`first upload of cycle ${cycle}: profile ${settings.profile.value}, tenant ${who}`);
  const last = others.find((each) => !each.name.startsWith('file-'));
  const share = last === undefined ? 1 : last.shared / rows.size;
  if (last === undefined || share >= LEAST_SHARE) return;
  notices.warn(
    `only ${fixedPercent(share)} of the rows of ${name} were in cycle ${last.name}, the last of this tenant: is the profile wrong, or the export?`,
  );
}

/** Says which rows of a file other jobs have. `now` is the service's time, by which jobs expire. */
export function reportDivision(
  { notices }: Context,
  { name, check }: Pick<RequestFile, 'name' | 'check'>,
  { free, joined, made }: Division,
  named: NamedFile,
  now: number,
): void {
  const of = `of ${countText(check.rows, 'row')} of ${name}`;
  for (const one of joined) {
    const all = check.rows === 1 ? 'the only row' : `all ${countText(check.rows, 'row')}`;
    const which = one.rows === check.rows ? `${all} of ${name}` : `${formatNumber(one.rows)} ${of}`;
    const isDoubtful = one.status === undefined && !one.isDone;
    const doubt = isDoubtful ? `; whether the service has them ${knownText(one.claim, now)}` : '';
    const text = `${which} ${one.rows === 1 ? 'is' : 'are'} in ${cycleText(named)} already: ${whoText(one, now)}${doubt}`;
    if (isDoubtful) notices.warn(text);
    else notices.note(text);
  }
  if (made > 0)
    notices.note(
      `${formatNumber(made)} ${of} ${made === 1 ? 'has a token' : 'have tokens'} that results of ${cycleText(named)} made: up to date, and not sent`,
    );
  const [, second] = free;
  if (second === undefined) return;
  const { rows } = second.check;
  notices.note(
    `${countText(rows, 'token')} of ${name} ${rows === 1 ? 'has' : 'have'} rows for several merchants: a token stands once in a job, so that ${countText(jobsFor(free), 'job')} are needed`,
  );
}

/**
 * Looks at the rows that no job has yet as a whole, and says what it sees. Returns what is strange of their tokens.
 * @throws SvcError `refused_input` for rows that cannot be meant as they are
 */
export function lookAtRows(
  context: Context,
  { file, input, words }: Unsent,
  free: readonly FreeRows[],
): string | undefined {
  const { accept, isPrepared } = input;
  const { check, submitted, name } = file;
  const rows = rowsOf(free);
  if (isPrepared === true || rows === 0) return undefined;
  const isWhole = rows === check.rows;
  const looked = isWhole ? submitted : (free[0]?.check ?? submitted);
  const refused = implausibleFile(looked, { name, words, accept, hasLines: isWhole });
  if (refused !== undefined) throw refused;
  noteOverview(context, undefined, looked);
  return looked.overview && strangeTokens(looked.overview);
}

/** Asks before billable rows are sent. `look` adds what is strange. */
export async function confirmRows(
  context: Context,
  unsent: Pick<Unsent, 'file' | 'input' | 'words'>,
  free: readonly FreeRows[],
  look?: string,
): Promise<void> {
  await confirmMerchants(context, unsent, free.length);
  const rows = rowsOf(free);
  if (rows === 0) return;
  const all = unsent.file.check.rows;
  const strange = look === undefined ? '' : ` (${look})`;
  const what = all === rows ? countText(rows, 'row') : `only ${formatNumber(rows)} of ${countText(all, 'row')}`;
  const choice = { unchanged: 'nothing was submitted', isUnexpected: all !== rows };
  await confirmCost(context, `submit ${what} in ${countText(jobsFor(free), 'job')}${strange}`, choice);
}

/** Asks before a file needs many jobs because a token of it has many merchants, which it may have by mistake. */
async function confirmMerchants(
  context: Context,
  { file, input, words }: Pick<Unsent, 'file' | 'input' | 'words'>,
  count: number,
): Promise<void> {
  if (count <= MOST_WITHOUT_A_QUESTION || input.accept.includes('merchants')) return;
  const what = `a token of ${file.name} has ${count} merchants, so that its rows need ${count} jobs`;
  const prompts = context.prompts();
  if (prompts.canAsk)
    return requireYes(await prompts.promptText(`${what}. Submit them? [y/N]`, ''), 'nothing was submitted');
  throw new SvcError('conflict', `${what}; nothing was submitted`, {
    hint: 'A token stands once in a job, because results name no merchant. If the file is meant so, accept the jobs:',
    next: [...words, '--accept', 'merchants'],
  });
}

/**
 * Warns in CI and in containers that the record of billed rows is lost with the machine or the container unless the
 * state directory is kept.
 */
async function warnOfNewState(
  { system, notices }: Context,
  { ledger, input }: Pick<Unsent, 'ledger' | 'input'>,
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

/** Shows what would be sent. */
export async function showPlan(
  context: Context,
  { name, check, submitted }: RequestFile,
  free: readonly FreeRows[],
): Promise<void> {
  const print = await recordPrinter(context, checkedFileView);
  const jobs = jobsFor(free);
  await print(checkedFileRow(name, check, submitted, jobs));
  const sent = jobs === 0 ? 'nothing' : `${countText(jobs, 'job')} for ${countText(rowsOf(free), 'row')}`;
  context.notices.note(`dry run: nothing was sent; it would create ${sent}`);
}

/** Returns the number of rows in some files. */
export function rowsOf(files: readonly FreeRows[]): number {
  return files.reduce((sum, { check }) => sum + check.rows, 0);
}

function jobsFor(files: readonly FreeRows[]): number {
  return files.reduce((sum, { check }) => sum + check.parts.length, 0);
}
