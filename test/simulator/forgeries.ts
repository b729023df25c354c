import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { captureResponse } from '../../src/emulator/faults/intercept.ts';

/** What a store can make of a result file: its last rows are missing, its tokens are of somebody else, a row is there twice. */
export const FORGERIES = ['cut', 'foreign', 'doubled'] as const;
export type Forgery = (typeof FORGERIES)[number];

/** Changes a result file on its way out. The head fits what is left of a cut file, and all of the other forgeries. */
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
