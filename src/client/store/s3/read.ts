// Reads the bytes of an object in a bucket.

import { SvcError } from '../../../base/errors.ts';
import type { HttpResponse } from '../../http/exchange.ts';
import { MAX_ATTEMPTS, isTransient } from '../../http/retry.ts';
import { TransportFailure } from '../../http/transport-failure.ts';
import type { S3Requests } from './requests.ts';
import { s3Error } from './s3-error.ts';
import { damagedFile } from '../store-errors.ts';
import { MAX_TEXT_BYTES, type StoreContent } from '../store.ts';

/**
 * Reads an object of at most `most` bytes; undefined if it does not exist.
 * @throws SvcError `checksum_mismatch` if it is larger
 */
export async function readSmallObject(
  requests: S3Requests,
  path: string,
  most: number,
  content: StoreContent,
): Promise<Uint8Array | undefined> {
  const { body, refusal } = await requests.send({
    method: 'GET',
    action: 's3:GetObject',
    path,
    bodyLimit: most,
    // A new connection sees the same as another machine would.
    fresh: content.writers !== 'one',
    handled: [404],
  });
  if (refusal?.error.code === 'NoSuchBucket') throw s3Error(refusal);
  if (refusal !== undefined) return undefined;
  if (!body?.complete) throw damagedFile(path, `it has more than ${most} bytes`, content);
  return body.bytes;
}

/** The size of a range. A whole range is in memory until its consumer has it, so ranges are short. */
const RANGE = 8 * 1024 * 1024;

const EMPTY_PART = new TransportFailure('reset', 'body', 'the store sent an empty part');

/**
 * Yields the bytes of an object, from `from` up to but not including `to`. After a cut, continues with the same version of the
 * object.
 * @throws SvcError `not_found`; `checksum_mismatch` if the object changes during the read; `network` after several cuts
 */
export async function* readObject(
  requests: S3Requests,
  path: string,
  { from, to } = { from: 0, to: Infinity },
): AsyncGenerator<Uint8Array> {
  let at = from;
  let breaks = 0;
  let etag: string | undefined;
  let total = Infinity;
  while (at < Math.min(total, to)) {
    const response = await openRange(requests, path, { from: at, to: Math.min(at + RANGE, to) }, etag);
    if (response === undefined) return;
    etag ??= response.header('etag');
    total = Math.min(total, totalOf(response));
    const received = await response.read(response.status === 206 ? RANGE : MAX_TEXT_BYTES);
    const { bytes } = received;
    at += bytes.byteLength;
    if (bytes.byteLength > 0) yield bytes;
    if (received.failure === undefined && !Number.isFinite(total)) return;
    // Without new bytes, the same request would follow without a pause or an end.
    const isEmpty = bytes.byteLength === 0 && at < Math.min(total, to);
    const failure = received.failure ?? (isEmpty ? EMPTY_PART : undefined);
    if (failure === undefined) continue;
    breaks += 1;
    const isHopeless = etag === undefined || !isTransient({ failure }) || breaks >= MAX_ATTEMPTS;
    if (isHopeless)
      throw new SvcError('network', `${requests.location.name}: ${path} broke off: ${failure.message}`, {
        hint: 'It is safe to run the command again.',
      });
  }
}

/**
 * Requests a range of the version with this ETag, which the first request does not know. Returns undefined if an object ends
 * before the range of the first request.
 */
async function openRange(
  requests: S3Requests,
  path: string,
  { from: at, to }: { readonly from: number; readonly to: number },
  etag: string | undefined,
): Promise<HttpResponse | undefined> {
  const range = `bytes=${at}-${to - 1}`;
  const isFirst = at === 0 || etag === undefined;
  const { response, refusal } = await requests.send({
    method: 'GET',
    action: 's3:GetObject',
    path,
    headers: isFirst ? { range } : { range, 'if-match': etag },
    handled: isFirst ? [416] : [412, 416],
  });
  const isRange = response.status === 206 ? startOf(response) === at : at === 0;
  if (refusal === undefined && isRange) return response;
  if (isFirst && response.status === 416) return undefined;
  if (refusal === undefined) response.discard();
  throw new SvcError('checksum_mismatch', `${requests.location.name}: ${path} changed while it was read`, {
    hint: 'Run the command again; nothing should overwrite the files of an archive.',
  });
}

/** Returns the size of the whole object, from the headers of a partial or complete response. */
function totalOf(response: HttpResponse): number {
  const header = response.status === 206 ? 'content-range' : 'content-length';
  return Number(/(\d+)$/.exec(response.header(header) ?? '')?.[1] ?? Infinity);
}

function startOf(response: HttpResponse): number {
  return Number(/^bytes (\d+)-/.exec(response.header('content-range') ?? '')?.[1] ?? Number.NaN);
}
