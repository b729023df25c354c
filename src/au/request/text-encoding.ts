// Recognizes text that is not UTF-8, and other formats, by their bytes.

const SIGNATURES: readonly (readonly [bytes: readonly number[], name: string])[] = [
  [[0xff, 0xfe, 0, 0], 'UTF-32 text'],
  [[0, 0, 0xfe, 0xff], 'UTF-32 text'],
  [[0x1f, 0x8b], 'gzip data'],
  [[0x50, 0x4b, 3, 4], 'a zip file or an Excel workbook'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'an old Excel workbook'],
];

/** Recognizes by its first bytes a file that is not UTF-8 text; undefined for a file that may be. */
export function foreignFormat(first: Uint8Array): string | undefined {
  const order = utf16Order(first);
  return order === undefined ? signatureOf(first) : `UTF-16 (${order}-endian) text`;
}

/** Recognizes by its first bytes UTF-16 text, with or without a byte order mark; undefined for anything else. */
export function utf16Order(first: Uint8Array): 'little' | 'big' | undefined {
  if (signatureOf(first) !== undefined || first.length < 2) return undefined;
  if (first[0] === 0xff && first[1] === 0xfe) return 'little';
  if (first[0] === 0xfe && first[1] === 0xff) return 'big';
  const even = first.filter((byte, at) => byte === 0 && at % 2 === 0).length;
  const odd = first.filter((byte, at) => byte === 0 && at % 2 === 1).length;
  if (Math.max(even, odd) * 4 < first.length || first.length < 4) return undefined;
  return even > odd ? 'big' : 'little';
}

function signatureOf(first: Uint8Array): string | undefined {
  return SIGNATURES.find(([bytes]) => bytes.every((byte, at) => first[at] === byte))?.[1];
}

/** Describes the first byte of a line that is not UTF-8, and the likely encoding of the line. */
export function describeBytes(line: Uint8Array): string {
  const valid = new TextDecoder('utf-8', { ignoreBOM: true }).decode(line).split('\uFFFD', 1)[0] ?? '';
  const byte = line[Buffer.byteLength(valid)] ?? 0;
  const name = `0x${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  const likely = byte >= 0xa0 ? 'Latin-1' : 'Windows-1252';
  return `is not UTF-8 (byte ${name}; ${likely}?): save the file as UTF-8`;
}
