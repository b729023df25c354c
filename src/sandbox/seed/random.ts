// A world made from a seed: every value is a hash of the seed and its place, so any part of it can be had
// without the parts before. Not for secrets.

/** Mixes 32-bit integers into one unsigned 32-bit integer. The same numbers always give the same result. */
export function mix(...parts: number[]): number {
  let hash = 0x9e3779b9;
  for (const part of parts) hash = scramble(hash ^ scramble(part + 0x85ebca6b));
  return hash >>> 0;
}

/** A version 4 UUID that depends on the numbers alone. */
export function uuidOf(...parts: number[]): string {
  const hash = mix(...parts);
  return uuidFromHex([1, 2, 3, 4].map((word) => hex(mix(hash, word, ...parts), 8)).join(''));
}

/** Lays 30 or more hex digits out as a version 4 UUID. */
export function uuidFromHex(digits: string): string {
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(12, 15)}`,
    `a${digits.slice(15, 18)}`,
    digits.slice(18, 30),
  ].join('-');
}

/** Hex digits of an unsigned integer, padded to `width`. */
export function hex(value: number, width: number): string {
  return value.toString(16).padStart(width, '0');
}

/** Namespaces keep the hashes of different kinds of thing apart. */
export const NAMESPACE = {
  tenant: 1,
  user: 2,
  application: 3,
  card: 4,
  derivedCard: 5,
  token: 6,
  bank: 7,
  proxy: 8,
  webhook: 9,
  log: 10,
  job: 11,
} as const;

function scramble(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return bits ^ (bits >>> 16);
}
