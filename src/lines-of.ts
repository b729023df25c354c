import type { Readable } from 'node:stream';

// Not by a library: a line without an end would be gathered without an end.
const LONGEST_LINE = 2000;

/** Tells each line that a program writes, cut where it is longer than 2,000 characters. */
export function tellLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = '';
  stream
    .setEncoding('utf8')
    .on('error', () => undefined)
    .on('data', (text: string) => {
      const lines = (rest + text).split(/\r?\n/);
      rest = (lines.pop() ?? '').slice(0, LONGEST_LINE);
      for (const line of lines) onLine(line.slice(0, LONGEST_LINE));
    })
    .on('close', () => {
      if (rest !== '') onLine(rest);
    });
}
