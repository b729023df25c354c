// Turns the rows of a request file into keys, and compares them with the row sets of a ledger.

import { createHash } from 'node:crypto';
import { SvcError } from '../../base/errors.ts';
import type { UploadSource } from '../../client/transfer/source.ts';
import { merchantOf, readRequest, type RequestRow, rowKeyOf } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { keyOfNewToken, keyOfRow, type RowSet, RowSetBuilder } from './row-set.ts';

type Rows = Pick<UploadSource, 'open' | 'sha256'>;

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
  const rows = await setOf(source, (row) => {
    const merchant = merchantOf(row);
    first ??= merchant;
    isMixed ||= merchant !== first;
    return keyOfRequestRow(salt, row);
  });
  return { rows, isMixed };
}

/** Returns the keys that the tokens of a request file would have as new tokens of results. */
export async function newTokenKeys(salt: string, source: Rows): Promise<RowSet> {
  return setOf(source, ({ token }) => keyOfRequestToken(salt, token));
}

/** Returns the key of a row of a request file. */
export function keyOfRequestRow(salt: string, row: RequestRow): bigint {
  return keyOfRow(salt, rowKeyOf(row));
}

/** Returns the key that a token would have as a new token of results. */
export function keyOfRequestToken(salt: string, token: string): bigint {
  return keyOfNewToken(salt, tokenKey(token));
}

async function setOf(source: Rows, keyOf: (row: RequestRow) => bigint): Promise<RowSet> {
  const keys = new RowSetBuilder();
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
