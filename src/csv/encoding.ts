/** What a file is that is no UTF-8 text, by its first bytes; undefined where nothing speaks against text. */
export function foreignFormat(first: Uint8Array): string | undefined {
  const signature = SIGNATURES.find(([bytes]) => bytes.every((byte, at) => first[at] === byte));
  if (signature !== undefined) return signature[1];
  const nulls = [0, 0];
  for (const [at, byte] of first.entries()) if (byte === 0) nulls[at % 2] = (nulls[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = nulls;
  if (Math.max(even, odd) * 4 < first.length || first.length < 4) return undefined;
  return even > odd ? UTF_16_BE : UTF_16_LE;
}

/** Whether the file starts with a UTF-8 byte order mark. */
export function hasByteOrderMark(first: Uint8Array): boolean {
  return first[0] === 0xef && first[1] === 0xbb && first[2] === 0xbf;
}

/** Names the first byte of a line that is no UTF-8, and what the line is then likely to be. */
export function describeBytes(line: Uint8Array): string {
  const byte = line[invalidAt(line)] ?? 0;
  const name = `0x${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  const likely = byte >= 0xa0 ? 'Latin-1' : 'Windows-1252';
  return `is not UTF-8 (byte ${name}; ${likely}?): save the file as UTF-8`;
}

const UTF_16_LE = 'UTF-16 (little-endian) text';
const UTF_16_BE = 'UTF-16 (big-endian) text';

const SIGNATURES: readonly (readonly [bytes: readonly number[], name: string])[] = [
  [[0xff, 0xfe, 0, 0], 'UTF-32 text'],
  [[0, 0, 0xfe, 0xff], 'UTF-32 text'],
  [[0xff, 0xfe], UTF_16_LE],
  [[0xfe, 0xff], UTF_16_BE],
  [[0x1f, 0x8b], 'gzip data'],
  [[0x50, 0x4b, 3, 4], 'a zip file or an Excel workbook'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'an old Excel workbook'],
];

/** The offset of the first byte that belongs to no whole, shortest UTF-8 sequence. */
function invalidAt(line: Uint8Array): number {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let at = 0; at < line.length;) {
    const length = sequenceLength(line[at] ?? 0);
    try {
      decoder.decode(line.subarray(at, at + length));
    } catch {
      return at;
    }
    at += length;
  }
  return 0;
}

function sequenceLength(lead: number): number {
  if (lead < 0xc0) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}
