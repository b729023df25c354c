// The identity of tokens and rows: two spellings of the same UUID are one token.

import { UUID } from '../../schema/uuid.ts';

const UUID_LENGTH = 36;

// The token of a row is asked about several times, one after another.
let asked = '';
let isAskedUuid = false;

/** Tells whether a text has the shape of a UUID, in letters of either case. */
export function isUuid(text: string): boolean {
  if (text.length !== UUID_LENGTH) return false;
  if (text !== asked) isAskedUuid = UUID.test(text);
  asked = text;
  return isAskedUuid;
}

/**
 * Returns the identity of a token: a UUID in lower case, because databases print the same one in either case, and any
 * other token unchanged.
 */
export function tokenKey(token: string): string {
  // Most tokens have no capital letter, which is found faster than their shape.
  return /[A-F]/.test(token) && isUuid(token) ? token.toLowerCase() : token;
}

/** Returns the identity of a row: its token and merchant, which are billed once a cycle. Cells never contain NUL. */
export function rowKey(token: string, merchant: string): string {
  return `${tokenKey(token)}\0${merchant}`;
}

/** Tells whether two tokens are the same, whatever the case of a UUID. */
export function isSameToken(one: string, other: string): boolean {
  return one === other || (one.length === other.length && tokenKey(one) === tokenKey(other));
}
