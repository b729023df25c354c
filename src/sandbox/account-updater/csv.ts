import { createReadStream } from 'node:fs';

/**
 * Lines of a UTF-8 file, many at a time, without their ends; a byte order mark stays. Throws a TypeError on
 * other encodings.
 */
export async function* linesOf(path: string, signal?: AbortSignal): AsyncGenerator<string[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let rest = '';
  const stream: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 1 << 18, signal });
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield lines.map(withoutReturn);
  }
  rest += decoder.decode();
  if (rest !== '') yield [withoutReturn(rest)];
}

/** Cells of a line; undefined when a quote stays open or stands amid a cell. */
export function cellsOf(line: string): string[] | undefined {
  if (!line.includes('"')) return line.split(',');
  const cells: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;
  for (;;) {
    const match = cell.exec(line);
    if (match === null) return undefined;
    cells.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] === '') return cells;
  }
}

/** A cell as it is written, quoted where it must be. */
export function cellText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
