// Turns the rows of a request file into keys, and compares them with the row sets of a ledger.

import { createHash } from 'node:crypto';
import { SvcError } from '../../base/errors.ts';
import type { UploadSource } from '../../client/transfer/source.ts';
import { merchantOf, readRequest, type RequestRow, rowKeyOf } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { keyOfNewToken, keyOfRow, type RowSet, RowSetBuilder } from './row-set.ts';

type Rows = Pick<UploadSource, 'open' | 'sha256'>;

/** Returns the keys of a file's rows, or of its tokens, with a salt. */
type KeysUnder = (salt: string) => Promise<RowSet>;

/** The keys of a file's rows, with the salt of each set that they are compared with. */
export class FileRows {
  /** The keys for a new claim. */
  readonly rows: RowSet;
  readonly keysUnder: KeysUnder;

  private constructor(rows: RowSet, under: KeysUnder) {
    this.rows = rows;
    this.keysUnder = under;
  }

  /** Makes the keys for new claims, which have `salt`. */
  static async of(salt: string, under: KeysUnder): Promise<FileRows> {
    return new FileRows(await under(salt), under);
  }

  get size(): number {
    return this.rows.size;
  }

  /** Counts the rows that are in a set. An undefined set may have any row, so all rows count. */
  async countShared(set: RowSet | undefined): Promise<number> {
    return set === undefined ? this.size : (await this.keysUnder(set.salt)).countShared(set);
  }

  /** Tells whether a set has exactly these rows. */
  async areAllOf(set: RowSet): Promise<boolean> {
    return set.size === this.size && (await this.countShared(set)) === this.size;
  }

  /** Counts the rows that are in none of the sets. Sets with different salts cannot be added, so the count may be too high. */
  async countFree(sets: readonly RowSet[]): Promise<number> {
    let free = this.size;
    for (const salt of new Set(sets.map((set) => set.salt)))
      free = Math.min(free, (await this.keysUnder(salt)).countMissingFrom(sets));
    return free;
  }
}

/** The keys of the rows of a request file. */
export interface RequestRows {
  readonly rows: RowSet;
  /** Whether the rows name several merchants, so that a token may be repeated. */
  readonly isMixed: boolean;
}

/** Reads the rows of a request file. @throws SvcError `checksum_mismatch` if the file changed */
export async function readRows(salt: string, source: Rows): Promise<RequestRows> {
  let first: string | undefined;
  let isMixed = false;
  const rows = await setOf(salt, source, (row) => {
    const merchant = merchantOf(row);
    first ??= merchant;
    isMixed ||= merchant !== first;
    return keyOfRequestRow(salt, row);
  });
  return { rows, isMixed };
}

/** Returns the keys that the tokens of a request file would have as new tokens of results. */
export async function newTokenKeys(salt: string, source: Rows): Promise<RowSet> {
  return setOf(salt, source, ({ token }) => keyOfRequestToken(salt, token));
}

/** Returns the key of a row of a request file. */
export function keyOfRequestRow(salt: string, row: RequestRow): bigint {
  return keyOfRow(salt, rowKeyOf(row));
}

/** Returns the key that a token would have as a new token of results. */
export function keyOfRequestToken(salt: string, token: string): bigint {
  return keyOfNewToken(salt, tokenKey(token));
}

async function setOf(salt: string, source: Rows, keyOf: (row: RequestRow) => bigint): Promise<RowSet> {
  const keys = new RowSetBuilder(salt);
  for await (const rows of readRequest(unchanged(source))) for (const row of rows) keys.add(keyOf(row));
  return keys.build();
}

/** Yields the bytes of a file, and fails if they are not the checked ones: the claim would have other rows than the upload. */
async function* unchanged(source: Rows): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const piece of source.open()) {
    hash.update(piece);
    yield piece;
  }
  if (source.sha256 === undefined || hash.digest('hex') === source.sha256) return;
  throw new SvcError('checksum_mismatch', 'the file changed after it was checked; nothing was sent', {
    hint: 'Let the file come to rest and run the command again.',
  });
}
