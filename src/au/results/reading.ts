import { isSvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { warnOf } from '../../cli/app/hint.ts';
import { countText, parseTime, utcTime } from '../../cli/output/time.ts';
import { ReadOnlyPlace } from '../../client/store/store.ts';
import type { Flaw } from '../../client/transfer/receive.ts';
import { fileSource, hashFile, hashIfReadable } from '../../client/transfer/source.ts';
import { areTokensKnown, byText, deliveryOf, isDone, lastReading } from '../ledger/claims.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import type { LedgerCycle } from '../ledger/cycle.ts';
import { undeliveredError } from '../ledger/doubt.ts';
import type { DoneEntry, EndBody, Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { createHash } from 'node:crypto';
import { containsCardNumber } from '../../base/security/card-number.ts';
import { tokenKey } from '../request/row-key.ts';
import { explainResultCode, readResults } from '../result-codes.ts';
import { keyOfClosedAccount, keyOfNewToken, type RowSet, RowSetBuilder } from '../ledger/row-set.ts';

/** The results of a job, as the ledger has them. Without a tenant or a claim, the ledger does not know the job. */
export class EnteredResults {
  readonly #context: Context;
  readonly #ledger: CommandLedger;
  readonly #job: string;
  /** What was read last, by the hash of the file. */
  #read: { readonly sha256: string; readonly reading: Promise<Reading | undefined> } | undefined;

  constructor(context: Context, ledger: CommandLedger, job: string) {
    this.#context = context;
    this.#ledger = ledger;
    this.#job = job;
  }

  /** Compares results with those that were read before. They may grow; what was read once does not disappear. */
  async compare(tenant: string | undefined, file: string): Promise<Flaw | undefined> {
    const claimed = await this.#claimed(tenant);
    const before = lastReading(claimed?.entries ?? [], this.#job);
    if (claimed === undefined || before === undefined || before.results?.sha256 === (await hashFile(file)))
      return undefined;
    const reading = await this.#readingOf(claimed.ledger, file);
    const loss = reading && (await lossSince(claimed.cycle, before, reading));
    return loss === undefined ? undefined : { rule: 'earlier_results', problem: `${loss} when ${readText(before)}` };
  }

  /**
   * Records in the ledger what was read, and which tokens the results made. This happens before the results get their name,
   * because whoever has the new tokens could submit them. The job is open until its results are delivered. Warns of results
   * that are others than those that were read before.
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
    if (before?.results?.sha256 === (await hashFile(file))) return;
    const reading = await this.#readingOf(ledger, file);
    if (reading === undefined && areTokensKnown(entries, job)) return;
    try {
      await cycle.endClaim({ ...(await doneOf(cycle, job, reading)), delivered: false });
    } catch (error) {
      if (!(error instanceof ReadOnlyPlace)) throw error;
      // A machine that may only read gets results whose tokens are all known.
      const isKnown = areTokensKnown(entries, job) && reading !== undefined && (await areBorn(cycle, entries, file));
      if (!isKnown) throw isDelivered ? undeliveredError(error, job) : error;
    }
    if (before?.results === undefined || reading === undefined) return;
    const { rows } = before.results;
    this.#context.notices.warn(
      `the results of job ${job} are others than when ${readText(before)}: they have ${countText(reading.rows, 'row')}, and had ${rows}. The ledger has what is new; use them in place of the earlier ones`,
    );
  }

  #claimed(tenant: string | undefined) {
    return tenant ? this.#ledger.claimed(tenant, this.#job) : undefined;
  }

  /** Reads a file of results, once for each content. */
  async #readingOf(ledger: Ledger, file: string): Promise<Reading | undefined> {
    const sha256 = await hashFile(file);
    if (this.#read?.sha256 !== sha256) this.#read = { sha256, reading: readingOf(ledger.salt, file) };
    return this.#read.reading;
  }
}

/** Tells whether a cycle knows all tokens that the results in a file made. */
async function areBorn(cycle: LedgerCycle, entries: readonly Entry[], file: string): Promise<boolean> {
  const made = await cycle.newTokens(entries);
  for (const salt of new Set(made.map((set) => set.salt)))
    if ((await readingOf(salt, file))?.born.left(made) === 0) return true;
  return false;
}

/** Returns the path of the results of a job that this machine keeps, if they are those that were read last. */
export async function keptResults(ledger: CommandLedger, tenant: string, job: string): Promise<string | undefined> {
  const { results } = ledger.jobFiles(job);
  const sha256 = await hashIfReadable(results);
  if (sha256 === undefined) return undefined;
  const { entries = [] } = (await ledger.claimed(tenant, job)) ?? {};
  const last = lastReading(entries, job)?.results;
  // Results that the operator accepted may be no table, of which the ledger notes nothing.
  return isDone(entries, job) && (last === undefined || last.sha256 === sha256) ? results : undefined;
}

/**
 * Records in the ledger that the results of some jobs were delivered, so that no machine shows these jobs as open: their file
 * has its name, or a pipe took all of it. The ledger knows their tokens already. Because they were delivered, a ledger that does
 * not take it changes no exit code.
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
      if (isDone(entries, job) && !deliveryOf(entries, job)) await cycle?.endClaim({ kind: 'done', job, born: null });
    }
  } catch (error) {
    // A machine that may only read has delivered them too.
    if (error instanceof ReadOnlyPlace) return;
    if (!isSvcError(error) || isSvcError(error, 'hangup', 'interrupted', 'terminated')) throw error;
    warnOf(context, 'the results were delivered, but the ledger still has their jobs as open', error);
  }
}

/** The most codes whose rows an entry counts: those that most rows have. */
const MOST_CODES = 100;

/** The results of a job as they were read once. */
export interface Reading {
  readonly bytes: number;
  readonly sha256: string;
  readonly rows: number;
  /** The number of rows with each result code. */
  readonly codes: ReadonlyMap<string, number>;
  /** The keys of the new tokens. */
  readonly born: RowSet;
  /** The keys of the tokens whose accounts are closed or have no valid number. */
  readonly closed: RowSet;
}

/** Reads results; undefined if they are no CSV table, which the operator may accept. */
export async function readingOf(salt: string, file: string): Promise<Reading | undefined> {
  const born = new RowSetBuilder(salt);
  const closed = new RowSetBuilder(salt);
  const codes = new Map<string, number>();
  const source = await fileSource(file);
  const hash = createHash('sha256');
  let rows = 0;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of source.open()) {
      hash.update(piece);
      yield piece;
    }
  }
  try {
    for await (const batch of readResults(pieces()))
      for (const { token, new_token: made, result_code: code } of batch) {
        rows += 1;
        codes.set(code, (codes.get(code) ?? 0) + 1);
        if (made !== '') born.add(keyOfNewToken(salt, tokenKey(made)));
        if (explainResultCode(code).group === 'exclude') closed.add(keyOfClosedAccount(salt, tokenKey(token)));
      }
  } catch (error) {
    if (isSvcError(error, 'checksum_mismatch')) return undefined;
    throw error;
  }
  const sha256 = hash.digest('hex');
  return { bytes: source.size, sha256, rows, codes, born: born.build(), closed: closed.build() };
}

/** Returns the entry that says what was read. The sets of keys are created before it. */
export async function doneOf(
  cycle: Pick<LedgerCycle, 'createRowSet'>,
  job: string,
  reading: Reading | undefined,
): Promise<Extract<EndBody, { kind: 'done' }>> {
  if (reading === undefined) return { kind: 'done', job, born: null };
  const { bytes, sha256, rows, codes } = reading;
  const born = await cycle.createRowSet(reading.born);
  const closed = reading.closed.size === 0 ? undefined : await cycle.createRowSet(reading.closed);
  return { kind: 'done', job, keys: 2, born, closed, results: { bytes, sha256, rows, codes: countsOf(codes) } };
}

/** Returns the codes that most rows have. What is no code, such as a card number, does not leave this machine. */
function countsOf(codes: Reading['codes']) {
  const counts = [...codes].map(([code, rows]) => ({ code, rows }));
  return counts
    .filter(({ code }) => /^[A-Za-z][A-Za-z0-9_]{0,39}$/.test(code) && !containsCardNumber(code))
    .toSorted((a, b) => b.rows - a.rows || (a.code < b.code ? -1 : 1))
    .slice(0, MOST_CODES);
}

/** Says who read results and when, such as `ci@runner-7 read it at 2026-12-01 05:00Z`. */
function readText(done: DoneEntry): string {
  const at = parseTime(done.at);
  return `${byText(done)} read it${at === undefined ? '' : ` at ${utcTime(at)}`}`;
}

/**
 * Compares results with those that were read before. Returns what is missing now, in words that follow "it"; undefined if
 * nothing is.
 */
async function lossSince(cycle: LedgerCycle, before: DoneEntry, reading: Reading): Promise<string | undefined> {
  const { results } = before;
  if (results === undefined || results.sha256 === reading.sha256) return undefined;
  const fallen = results.codes.find(({ code, rows }) => (reading.codes.get(code) ?? 0) < rows);
  if (fallen !== undefined)
    return `has ${countText(reading.codes.get(fallen.code) ?? 0, 'row')} with ${fallen.code}, and had ${fallen.rows}`;
  const [born] = await cycle.newTokens([before]);
  const missing = born?.left([reading.born]) ?? 0;
  return missing === 0 ? undefined : `lacks ${countText(missing, 'new token')} that it had`;
}
