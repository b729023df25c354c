// Finds the lines of a segment that may contain a value, without parsing them.

/** The encoding of lines. Lines of a raw segment may not be UTF-8, so each of their characters stands for a byte. */
export type LineEncoding = 'utf8' | 'latin1';
export const LINE_END = 0x0a;

/** Values of these characters can be found in the bytes of a line, unless the line has one of `ESCAPES`. */
const PRINTABLE = /^[ -~]*$/;
const ESCAPES = [String.raw`\u00`, String.raw`\/`];

/** Returns byte sequences: every line with one of the values contains one of them. Undefined if no such sequences exist. */
export function needlesFor(values: readonly string[]): Buffer[] | undefined {
  if (values.length === 0 || values.some((value) => !PRINTABLE.test(value) || /["\\]/.test(value))) return undefined;
  return [...values.map((value) => `"${value}"`), ...ESCAPES].map((text) => Buffer.from(text));
}

/** Yields the lines of a block with one of the needles, in order. Parsing would take a hundred times as long. */
export function* linesWith(block: Buffer, needles: readonly Buffer[], encoding: LineEncoding): Generator<string> {
  const found = needles.map((needle) => ({ needle, at: block.indexOf(needle) }));
  for (;;) {
    const next = Math.min(...found.map(({ at }) => (at === -1 ? Infinity : at)));
    if (next === Infinity) return;
    const end = block.indexOf(LINE_END, next);
    yield block.toString(encoding, block.lastIndexOf(LINE_END, next) + 1, end);
    for (const one of found) if (one.at !== -1 && one.at < end) one.at = block.indexOf(one.needle, end);
  }
}
