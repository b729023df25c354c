// Draws changes by lot.

/** Returns up to `count` changes, in order. The same seed draws the same. */
export function drawn(all, count, seed) {
  const random = randomFrom(seed);
  const places = new Set();
  while (places.size < Math.min(count, all.length)) places.add(Math.floor(random() * all.length));
  return numbered(all.filter((_, at) => places.has(at)));
}

/** Numbers changes from 1. */
export function numbered(changes) {
  for (const [index, change] of changes.entries()) change.number = index + 1;
  return changes;
}

/** Returns a generator of numbers from 0 to 1 that depend only on the seed (mulberry32). */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
