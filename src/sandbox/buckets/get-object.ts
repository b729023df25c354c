import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { readRange } from '../store/range.ts';
import { StoreRefusal } from '../store/refusal.ts';
import { conditionFailed, type ObjectCall } from './put-object.ts';

/** Sends an object, or a range of it, or for HEAD only what is known of it. */
export async function getObject({ objects, exchange, bucket, key }: ObjectCall): Promise<void> {
  const { incoming, outgoing } = exchange;
  const found = objects.find(bucket, key);
  if (found === undefined)
    throw new StoreRefusal(404, 'NoSuchKey', 'The object does not exist.', { Key: key });
  const etag = `"${found.md5}"`;
  const { 'if-match': match, 'if-none-match': none } = incoming.headers;
  if (match !== undefined && match !== '*' && match !== etag) throw conditionFailed('If-Match');
  outgoing.setHeader('etag', etag);
  outgoing.setHeader('last-modified', new Date(found.at).toUTCString());
  if (none === etag || none === '*') {
    outgoing.statusCode = 304;
    return void outgoing.end();
  }
  const range = found.bytes === 0 ? undefined : readRange(incoming.headers.range, found.bytes);
  if (range === 'unsatisfiable') {
    outgoing.setHeader('content-range', `bytes */${found.bytes}`);
    throw new StoreRefusal(416, 'InvalidRange', 'The range cannot be satisfied.');
  }
  const { first, last } = range ?? { first: 0, last: found.bytes - 1 };
  outgoing.statusCode = range === undefined ? 200 : 206;
  if (range !== undefined) outgoing.setHeader('content-range', `bytes ${first}-${last}/${found.bytes}`);
  outgoing.setHeader('accept-ranges', 'bytes');
  outgoing.setHeader('content-type', 'binary/octet-stream');
  outgoing.setHeader('content-length', last - first + 1);
  if (incoming.method === 'HEAD' || last < first) return void outgoing.end();
  const { file, start } = found;
  await pipeline(createReadStream(file, { start: start + first, end: start + last }), outgoing);
}
