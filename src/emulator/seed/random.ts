// Pseudorandom values: each is a hash of a seed and a position, so that any value can be computed without the others. Not
// suitable for secrets.

/** Mixes 32-bit integers into an unsigned one. Has no rest parameter, which would be too slow for millions of calls. */
export function mix(a: number, b = 0, c = 0, d = 0, e = 0): number {
  let hash = scramble(0x9e3779b9 ^ scramble(a + 0x85ebca6b));
  hash = scramble(hash ^ scramble(b + 0x85ebca6b));
  hash = scramble(hash ^ scramble(c + 0x85ebca6b));
  hash = scramble(hash ^ scramble(d + 0x85ebca6b));
  return scramble(hash ^ scramble(e + 0x85ebca6b)) >>> 0;
}

/** Returns a version 4 UUID computed from the numbers. */
export function uuidOf(seed: number, namespace: number, a = 0, b = 0, c = 0): string {
  const first = mix(seed, namespace, a, b, c);
  const second = mix(first, c, b, a, namespace);
  const words = [first, second, mix(first, second, seed), mix(second, seed, first)];
  return uuidFromHex(words.map((word) => hex(word, 8)).join(''));
}

/** Formats 30 or more hex digits as a version 4 UUID. */
export function uuidFromHex(digits: string): string {
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(12, 15)}`,
    `a${digits.slice(15, 18)}`,
    digits.slice(18, 30),
  ].join('-');
}

export function hex(value: number, width: number): string {
  return value.toString(16).padStart(width, '0');
}

/** Returns a function that remembers its result for each argument. */
export function memoized<Key, Result>(compute: (key: Key) => Result): (key: Key) => Result {
  const results = new Map<Key, Result>();
  return (key) => {
    const result = results.get(key) ?? compute(key);
    results.set(key, result);
    return result;
  };
}

/** Numbers that keep the hashes of different kinds of values apart. */
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
  event: 12,
  trace: 13,
  threeDsCard: 21,
  tokenIntent: 22,
  newToken: 23,
  session: 24,
  transaction: 25,
  monthCard: 26,
  inventedCard: 27,
} as const;

function scramble(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return bits ^ (bits >>> 16);
}
