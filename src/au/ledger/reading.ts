import { createHash } from 'node:crypto';
import { isSvcError } from '../../base/errors.ts';
import { containsCardNumber } from '../../base/security/card-number.ts';
import { countText, parseTime, utcTime } from '../../cli/output/time.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { tokenKey } from '../request/row-key.ts';
import { explainResultCode, readResults } from '../result-codes.ts';
import { byText } from './claims.ts';
import type { DoneEntry, EndBody } from './entry.ts';
import type { LedgerCycle } from './cycle.ts';
import { keyOfClosedAccount, keyOfNewToken, type RowSet, RowSetBuilder } from './row-set.ts';

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
export function readText(done: DoneEntry): string {
  const at = parseTime(done.at);
  return `${byText(done)} read it${at === undefined ? '' : ` at ${utcTime(at)}`}`;
}

/**
 * Compares results with those that were read before. Returns what is missing now, in words that follow "it"; undefined if
 * nothing is.
 */
export async function lossSince(cycle: LedgerCycle, before: DoneEntry, reading: Reading): Promise<string | undefined> {
  const { results } = before;
  if (results === undefined || results.sha256 === reading.sha256) return undefined;
  const fallen = results.codes.find(({ code, rows }) => (reading.codes.get(code) ?? 0) < rows);
  if (fallen !== undefined)
    return `has ${countText(reading.codes.get(fallen.code) ?? 0, 'row')} with ${fallen.code}, and had ${fallen.rows}`;
  const [born] = await cycle.newTokens([before]);
  const missing = born?.left([reading.born]) ?? 0;
  return missing === 0 ? undefined : `lacks ${countText(missing, 'new token')} that it had`;
}
