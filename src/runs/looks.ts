const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/**
 * How long to wait before looking at jobs again, by how long they have been waited for: a first look soon,
 * since a test tenant is done in seconds; then 5 s growing to a minute within the first hour, and to five
 * minutes for the days that a production job takes. With up to a fifth of jitter, so that jobs started
 * together do not look together.
 * @param look how many looks were made so far
 * @param waited milliseconds since the first of them
 * @returns milliseconds
 */
export function nextLookMs(look: number, waited: number, random: () => number): number {
  const ceiling = waited < 60 * MINUTE ? MINUTE : 5 * MINUTE;
  const base = look === 0 ? 2 * SECOND : Math.min(ceiling, 5 * SECOND * 1.3 ** (look - 1));
  return Math.round(base * (1 + 0.2 * random()));
}
