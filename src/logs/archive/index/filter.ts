/**
 * Bloom filters over the ids in a column of entries. A filter consists of 64-byte blocks of 16 words. The key of an id
 * selects one block and eight bits in it. A filter reports every id that was added, and wrongly about one other in 300.
 */
export const BLOCK_WORDS = 16;
export const BLOCK_BYTES = BLOCK_WORDS * 4;

const BITS_PER_ID = 14;
const SMALLEST = 9;
/** A filter of class c has 9 × 2^c blocks: 576 bytes for 41 ids up to 37 kB for 21,000. */
export const LARGEST_CLASS = 6;

export function blocksOf(sizeClass: number): number {
  return SMALLEST << sizeClass;
}

/** The initial hash as a signed 32-bit integer. With any other number, engines would use floating point in the loop. */
const BEGIN = 0x81_1c_9d_c5 | 0;

/** The hash of an id as two 32-bit numbers. Case is ignored, as in UUIDs. */
export interface IdKey {
  readonly place: number;
  readonly bits: number;
}

export function keyOf(id: string): IdKey {
  const text = id.toLowerCase();
  let one = BEGIN;
  let other = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x01_00_01_93);
    other = Math.imul((other << 5) ^ (other >>> 27) ^ unit, 0x9e_37_79_b1);
  }
  return { place: mixed(one ^ (other >>> 15)), bits: mixed(other + one) };
}

/** Returns the key of an id in a block of lines, like {@link keyOf}; undefined without an id, which starts at -1. */
export function keyAt(
  block: Buffer,
  { start, end }: { readonly start: number; readonly end: number },
): IdKey | undefined {
  return start === -1 ? undefined : (keyIn(block, start, end) ?? keyOf(block.toString('utf8', start, end)));
}

/** Returns the key of an id from its bytes; undefined if it is not ASCII. */
function keyIn(block: Uint8Array, start: number, end: number): IdKey | undefined {
  let one = BEGIN;
  let other = end - start;
  for (let at = start; at < end; at += 1) {
    const byte = block[at] ?? 0;
    if (byte > 0x7f) return undefined;
    const unit = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
    one = Math.imul(one ^ unit, 0x01_00_01_93);
    other = Math.imul((other << 5) ^ (other >>> 27) ^ unit, 0x9e_37_79_b1);
  }
  return { place: mixed(one ^ (other >>> 15)), bits: mixed(other + one) };
}

// Mixes the bits, so that any change of the input changes about half of them.
function mixed(value: number): number {
  let mix = Math.imul(value ^ (value >>> 16), 0x85_eb_ca_6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2_b2_ae_35);
  return (mix ^ (mix >>> 16)) >>> 0;
}

/** Returns the block number of an id. Half as many blocks halve the number, so that filters can be folded. */
export function placeOf({ place }: IdKey, blocks: number): number {
  return Math.floor((place * blocks) / 2 ** 32);
}

/** Multipliers that select one bit in each of the eight pairs of words of a block. */
const SALTS = new Int32Array([
  0x47_b6_13_7b, 0x44_97_4d_91, 0x88_24_ad_5b, 0xa2_b7_28_9d, 0x70_54_95_c7, 0x2d_f1_42_4b, 0x9e_fc_49_47,
  0x5c_6b_fb_31,
]);

/** Whether the block at `offset` (in words) may contain an id. */
export function mayHold(words: Uint32Array, offset: number, { bits }: IdKey): boolean {
  for (let pair = 0; pair < SALTS.length; pair += 1) {
    const bit = Math.imul(bits, SALTS[pair] ?? 0) >>> 26;
    if (((words[offset + pair * 2 + (bit >>> 5)] ?? 0) & (1 << (bit & 31))) === 0) return false;
  }
  return true;
}

export interface BuiltFilter {
  readonly sizeClass: number;
  readonly words: Uint32Array;
}

/** Builds the filter of a column for any number of ids. */
export class FilterBuilder {
  readonly #words = new Uint32Array(blocksOf(LARGEST_CLASS) * BLOCK_WORDS);
  #ids = 0;

  add(key: IdKey): void {
    const offset = placeOf(key, blocksOf(LARGEST_CLASS)) * BLOCK_WORDS;
    const words = this.#words;
    let isNew = false;
    for (let pair = 0; pair < SALTS.length; pair += 1) {
      const bit = Math.imul(key.bits, SALTS[pair] ?? 0) >>> 26;
      const at = offset + pair * 2 + (bit >>> 5);
      const before = words[at] ?? 0;
      const after = (before | (1 << (bit & 31))) >>> 0;
      if (after === before) continue;
      words[at] = after;
      isNew = true;
    }
    if (isNew) this.#ids += 1;
  }

  /** Returns the filter with as few blocks as its ids need. */
  finish(): BuiltFilter {
    let sizeClass = 0;
    while (sizeClass < LARGEST_CLASS && this.#ids * BITS_PER_ID > blocksOf(sizeClass) * BLOCK_BYTES * 8) sizeClass += 1;
    let words: Uint32Array = this.#words;
    for (let each = LARGEST_CLASS; each > sizeClass; each -= 1) words = folded(words);
    return { sizeClass, words };
  }
}

/** Returns the filter with half as many blocks. */
function folded(words: Uint32Array): Uint32Array {
  const half = new Uint32Array(words.length / 2);
  for (let at = 0; at < words.length; at += 1) {
    const to = (at >>> 5) * BLOCK_WORDS + (at & 15);
    half[to] = (half[to] ?? 0) | (words[at] ?? 0);
  }
  return half;
}
