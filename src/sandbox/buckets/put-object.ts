import { createHash } from 'node:crypto';
import { createWriteStream, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Exchange } from '../routes/route.ts';
import { StoreRefusal } from '../store/refusal.ts';
import { type ObjectFiles, objectHead } from './objects.ts';

/** The object that a request is about, and what is known of the request. */
export interface ObjectCall {
  readonly objects: ObjectFiles;
  readonly exchange: Exchange;
  readonly bucket: string;
  readonly key: string;
  /** SHA-256 that the body must have, hexadecimal; undefined where it is not signed. */
  readonly payload: string | undefined;
  readonly now: number;
}

/** Takes an object in, whole or not at all. `If-None-Match: *` and `If-Match` are honoured, also between processes. */
export async function putObject(call: ObjectCall): Promise<void> {
  const { objects, exchange, bucket, key, payload, now } = call;
  const { incoming, outgoing } = exchange;
  checkFraming(incoming);
  const isNew = checkConditions(call);
  const draft = objects.draft(bucket);
  try {
    if (incoming.headers.expect !== undefined) outgoing.writeContinue();
    const { md5, sha256 } = await receive(incoming, draft);
    if (payload !== undefined && payload !== sha256)
      throw new StoreRefusal(
        400,
        'XAmzContentSHA256Mismatch',
        'The body does not have the hash that was signed.',
        {
          ClientComputedContentSHA256: payload,
          S3ComputedContentSHA256: sha256,
        },
      );
    checkMd5(incoming, md5);
    await writeHead(draft.path, objectHead(key, md5, now));
    if (!objects.keep(bucket, key, draft.path, isNew)) throw conditionFailed('If-None-Match');
    outgoing.setHeader('etag', `"${md5}"`);
    outgoing.setHeader('content-length', 0);
    outgoing.end();
  } finally {
    rmSync(draft.path, { force: true });
  }
}

/** Refuses a request one of whose conditions does not hold. */
export function conditionFailed(condition: string): StoreRefusal {
  return new StoreRefusal(412, 'PreconditionFailed', 'A condition of the request does not hold.', {
    Condition: condition,
  });
}

function checkFraming({ headers }: IncomingMessage): void {
  if (headers['transfer-encoding'] !== undefined)
    throw new StoreRefusal(501, 'NotImplemented', 'A header implies functionality that is not implemented.', {
      Header: 'Transfer-Encoding',
    });
  if (headers['content-length'] === undefined)
    throw new StoreRefusal(411, 'MissingContentLength', 'The Content-Length header is needed.');
}

/** Whether the object must be new. */
function checkConditions({ objects, exchange, bucket, key }: ObjectCall): boolean {
  const { 'if-none-match': none, 'if-match': match } = exchange.incoming.headers;
  if (none !== undefined && none !== '*')
    throw new StoreRefusal(501, 'NotImplemented', 'Only If-None-Match: * is implemented.');
  const found = objects.find(bucket, key);
  if (none !== undefined && found) throw conditionFailed('If-None-Match');
  if (match !== undefined && match !== `"${found?.md5}"`) throw conditionFailed('If-Match');
  return none !== undefined;
}

function checkMd5({ headers }: IncomingMessage, md5: string): void {
  const given = headers['content-md5']?.toString();
  if (given !== undefined && Buffer.from(given, 'base64').toString('hex') !== md5)
    throw new StoreRefusal(400, 'BadDigest', 'The Content-MD5 does not match what was received.');
}

async function receive(
  incoming: IncomingMessage,
  { path, start }: { readonly path: string; readonly start: number },
): Promise<{ md5: string; sha256: string }> {
  const [md5, sha256] = [createHash('md5'), createHash('sha256')];
  const digest = new Transform({
    transform(chunk: Buffer, _encoding, done): void {
      md5.update(chunk);
      sha256.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(incoming, digest, createWriteStream(path, { flags: 'wx', mode: 0o600, start }));
  return { md5: md5.digest('hex'), sha256: sha256.digest('hex') };
}

async function writeHead(path: string, head: Buffer): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.write(head, 0, head.length, 0);
  } finally {
    await file.close();
  }
}
