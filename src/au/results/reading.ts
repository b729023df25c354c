// Enters in the ledger which results of a job were read, their new tokens, and their delivery.

import { createHash } from 'node:crypto';
import { areTokensKnown, deliveryOf, lastReading, senderName, wereResultsRead } from '../ledger/claims.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import type { LedgerCycle } from '../ledger/cycle.ts';
import { undeliveredError } from '../ledger/doubt.ts';
import type { DoneEntry, EndBody, Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type RowSet, RowSetBuilder, keyOfClosedAccount, keyOfNewToken } from '../ledger/row-set.ts';
import { tokenKey } from '../request/row-key.ts';
import { explainResultCode, readResults } from '../result-codes.ts';
import { isSvcError } from '../../base/errors.ts';
import { containsCardNumber } from '../../base/security/card-number.ts';
import type { Context } from '../../cli/app/command.ts';
import { warnOf } from '../../cli/app/hint.ts';
import { parseTime, utcTime } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import { ReadOnlyPlace } from '../../client/store/store-errors.ts';
import type { Flaw } from '../../client/transfer/receive.ts';
import { fileSource, hashFile, hashIfReadable } from '../../client/transfer/source.ts';

/** Compares the results of one job with the ledger, and enters them there. A job without a claim is skipped. */
export class EnteredResults {
  readonly #context: Context;
  readonly #ledger: CommandLedger;
  readonly #job: string;
  /** The file that was read last, so that a file is read only once. */
  #read: { readonly sha256: string; readonly reading: Promise<Reading | undefined> } | undefined;

  constructor(context: Context, ledger: CommandLedger, job: string) {
    this.#context = context;
    this.#ledger = ledger;
    this.#job = job;
  }

  /** Compares results with those that were read before. Returns a flaw if rows are missing now; new rows are allowed. */
  async compare(tenant: string | undefined, file: string): Promise<Flaw | undefined> {
    const claimed = await this.#claimed(tenant);
    const before = lastReading(claimed?.entries ?? [], this.#job);
    if (claimed === undefined || before === undefined) return undefined;
    const sha256 = await hashFile(file);
    if (before.results?.sha256 === sha256) return undefined;
    const reading = await this.#readingOf(claimed.ledger, file, sha256);
    const loss = reading && (await describeLoss(claimed.cycle, before, reading));
    return loss === undefined ? undefined : { rule: 'earlier_results', problem: `${loss} when ${readerText(before)}` };
  }

  /**
   * Enters the results and their new tokens in the ledger, before the results get their name: whoever has the new tokens could
   * submit them. The job stays open until its results are delivered. Warns if the results changed since they were last read.
   * @throws SvcError `config` if this machine may only read the ledger
   */
  async enter(
    tenant: string | undefined,
    file: string,
    { isDelivered }: { readonly isDelivered: boolean },
  ): Promise<void> {
    const job = this.#job;
    const claimed = await this.#claimed(tenant);
    if (claimed === undefined) return;
    const { ledger, cycle, entries } = claimed;
    const before = lastReading(entries, job);
    const sha256 = before && (await hashFile(file));
    if (before && before.results?.sha256 === sha256) return;
    const reading = await this.#readingOf(ledger, file, sha256);
    if (reading === undefined && areTokensKnown(entries, job)) return;
    const repeated = reading === undefined ? 0 : reading.newTokens - reading.born.size;
    if (repeated > 0)
      this.#context.notices.warn(
        `${countText(repeated, 'row')} of the results of job ${job} ${repeated === 1 ? 'has a new token' : 'have new tokens'} that another row has too: contact support with the job id before you use ${repeated === 1 ? 'it' : 'them'}`,
      );
    try {
      await cycle.endClaim({ ...(await doneEntry(cycle, job, reading)), delivered: false });
    } catch (error) {
      if (!(error instanceof ReadOnlyPlace)) throw error;
      // Results whose tokens the ledger knows need no entry, so a machine that may only read the ledger gets them.
      const isKnown =
        areTokensKnown(entries, job) && reading !== undefined && (await areTokensEntered(cycle, entries, file));
      if (!isKnown) throw isDelivered ? undeliveredError(error, job) : error;
    }
    if (before?.results === undefined || reading === undefined) return;
    const { rows } = before.results;
    this.#context.notices.warn(
      `the results of job ${job} are others than when ${readerText(before)}: they have ${countText(reading.rows, 'row')}, and had ${rows}. The ledger has what is new; use them in place of the earlier ones`,
    );
  }

  #claimed(tenant: string | undefined) {
    return tenant ? this.#ledger.claimed(tenant, this.#job) : undefined;
  }

  /** Reads a results file, unless the last file had the same bytes. `sha256` is that of the file, if it was compared. */
  async #readingOf(ledger: Ledger, file: string, sha256: string | undefined): Promise<Reading | undefined> {
    if (sha256 === undefined) return readResultsFile(ledger.salt, file);
    if (this.#read?.sha256 !== sha256) this.#read = { sha256, reading: readResultsFile(ledger.salt, file) };
    return this.#read.reading;
  }
}

/** Tells whether the entries of a cycle name all new tokens in a results file. */
async function areTokensEntered(cycle: LedgerCycle, entries: readonly Entry[], file: string): Promise<boolean> {
  const newTokens = await cycle.newTokens(entries);
  for (const salt of new Set(newTokens.map((set) => set.salt)))
    if ((await readResultsFile(salt, file))?.born.countMissingFrom(newTokens) === 0) return true;
  return false;
}

/** Returns the path of the kept results of a job, if they are the newest results in the ledger. */
export async function keptResults(ledger: CommandLedger, tenant: string, job: string): Promise<string | undefined> {
  const { results } = ledger.jobFiles(job);
  const sha256 = await hashIfReadable(results);
  if (sha256 === undefined) return undefined;
  const { entries = [] } = (await ledger.claimed(tenant, job)) ?? {};
  const last = lastReading(entries, job)?.results;
  // The operator may have accepted results that are no table. The ledger has no hash of them.
  return wereResultsRead(entries, job) && (last === undefined || last.sha256 === sha256) ? results : undefined;
}

/**
 * Records in the ledger that the results of jobs were delivered: their file has its name, or a pipe took all of it. From then
 * on, no machine shows these jobs as open. A failure is only a warning, because the operator has the results.
 */
export async function enterDelivery(
  context: Context,
  { tenant, ledger }: { readonly tenant: string | undefined; readonly ledger: CommandLedger },
  jobs: readonly string[],
): Promise<void> {
  if (!tenant) return;
  try {
    for (const job of jobs) {
      const { cycle, entries = [] } = (await ledger.claimed(tenant, job)) ?? {};
      if (wereResultsRead(entries, job) && !deliveryOf(entries, job))
        await cycle?.endClaim({ kind: 'done', job, born: null });
    }
  } catch (error) {
    // A machine that may only read the ledger cannot record its delivery.
    if (error instanceof ReadOnlyPlace) return;
    if (!isSvcError(error) || isSvcError(error, 'hangup', 'interrupted', 'terminated')) throw error;
    warnOf(context, 'the results were delivered, but the ledger still has their jobs as open', error);
  }
}

/** The largest number of result codes that an entry counts. */
const MAX_CODES = 100;

/** A summary of a results file. */
export interface Reading {
  readonly bytes: number;
  readonly sha256: string;
  readonly rows: number;
  /** The number of rows with each result code. */
  readonly codes: ReadonlyMap<string, number>;
  /** The number of rows with a new token. */
  readonly newTokens: number;
  /** The keys of the new tokens. */
  readonly born: RowSet;
  /** The keys of the tokens whose accounts are closed or have no valid number. */
  readonly closed: RowSet;
}

/** Reads a results file. Returns undefined if it is no CSV table, which only the operator can accept. */
export async function readResultsFile(salt: string, file: string): Promise<Reading | undefined> {
  const born = new RowSetBuilder(salt);
  const closed = new RowSetBuilder(salt);
  const codes = new Map<string, number>();
  const source = await fileSource(file);
  const hash = createHash('sha256');
  let rows = 0;
  let newTokens = 0;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of source.open()) {
      hash.update(piece);
      yield piece;
    }
  }
  try {
    for await (const batch of readResults(pieces()))
      for (const { token, new_token: newToken, result_code: code } of batch) {
        rows += 1;
        codes.set(code, (codes.get(code) ?? 0) + 1);
        if (newToken !== '') {
          newTokens += 1;
          born.add(keyOfNewToken(salt, tokenKey(newToken)));
        }
        if (explainResultCode(code).group === 'exclude') closed.add(keyOfClosedAccount(salt, tokenKey(token)));
      }
  } catch (error) {
    if (isSvcError(error, 'checksum_mismatch')) return undefined;
    throw error;
  }
  const sha256 = hash.digest('hex');
  return { bytes: source.size, sha256, rows, newTokens, codes, born: born.build(), closed: closed.build() };
}

/** Stores the sets of keys, and returns the entry that names them. */
export async function doneEntry(
  cycle: Pick<LedgerCycle, 'createRowSet'>,
  job: string,
  reading: Reading | undefined,
): Promise<Extract<EndBody, { kind: 'done' }>> {
  if (reading === undefined) return { kind: 'done', job, born: null };
  const { bytes, sha256, rows, codes } = reading;
  const born = await cycle.createRowSet(reading.born);
  const closed = reading.closed.size === 0 ? undefined : await cycle.createRowSet(reading.closed);
  return {
    kind: 'done',
    job,
    keys: 2,
    born,
    closed,
    results: { bytes, sha256, rows, codes: mostFrequentCodes(codes) },
  };
}

/** Returns the codes with the most rows. Text that is no code may be a card number, so it stays on this machine. */
function mostFrequentCodes(codes: Reading['codes']) {
  const counts = [...codes].map(([code, rows]) => ({ code, rows }));
  return counts
    .filter(({ code }) => /^[A-Za-z][A-Za-z0-9_]{0,39}$/.test(code) && !containsCardNumber(code))
    .toSorted((a, b) => b.rows - a.rows || (a.code < b.code ? -1 : 1))
    .slice(0, MAX_CODES);
}

/** Returns who read results and when, such as `ci@runner-7 read it at 2026-12-01 05:00Z`. */
function readerText(done: DoneEntry): string {
  const at = parseTime(done.at);
  return `${senderName(done)} read it${at === undefined ? '' : ` at ${utcTime(at)}`}`;
}

/** Returns what earlier results had and the new ones lack, in words that follow "it"; undefined if nothing is missing. */
async function describeLoss(cycle: LedgerCycle, before: DoneEntry, reading: Reading): Promise<string | undefined> {
  const { results } = before;
  if (results === undefined || results.sha256 === reading.sha256) return undefined;
  const reduced = results.codes.find(({ code, rows }) => (reading.codes.get(code) ?? 0) < rows);
  if (reduced !== undefined)
    return `has ${countText(reading.codes.get(reduced.code) ?? 0, 'row')} with ${reduced.code}, and had ${reduced.rows}`;
  const [born] = await cycle.newTokens([before]);
  const missing = born?.countMissingFrom([reading.born]) ?? 0;
  return missing === 0 ? undefined : `lacks ${countText(missing, 'new token')} that it had`;
}
