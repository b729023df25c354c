import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { captureResponse } from '../../src/emulator/faults/intercept.ts';

/** Ways to falsify a result file: drop its last rows, put in a foreign token, or repeat a row. */
export const FORGERIES = ['cut', 'foreign', 'doubled'] as const;
export type Forgery = (typeof FORGERIES)[number];

/** Falsifies a result file on its way out. The length always fits the new body; the hash does not fit a cut file. */
export function forge(outgoing: ServerResponse, forgery: Forgery, note: (sha256: string) => void): void {
  captureResponse(outgoing, (body) => {
    if (outgoing.statusCode !== 200) return outgoing.end(body);
    const forged = CHANGES[forgery](body);
    note(createHash('sha256').update(forged).digest('hex'));
    outgoing.setHeader('content-length', forged.length);
    if (forgery !== 'cut') outgoing.setHeader('etag', `"${createHash('md5').update(forged).digest('hex')}"`);
    return outgoing.end(forged);
  });
}

const CHANGES: Readonly<Record<Forgery, (body: Buffer) => Buffer>> = {
  cut: (body) => body.subarray(0, body.lastIndexOf('\n', body.length / 2) + 1),
  foreign: (body) => changeRows(body, ([first = '', ...rows]) => [first.replace(/^[^,]*/, FOREIGN), ...rows]),
  doubled: (body) => changeRows(body, ([first = '', _second, ...rows]) => [first, first, ...rows]),
};

const FOREIGN = '11111111-2222-4333-8444-555555555555';

function changeRows(body: Buffer, change: (rows: string[]) => string[]): Buffer {
  const [header = '', ...rows] = body.toString().trimEnd().split('\n');
  if (rows.length < 2) return body;
  return Buffer.from([header, ...change(rows), ''].join('\n'));
}
