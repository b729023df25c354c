// Reads and lists the objects of a bucket.

import { SvcError } from '../../../base/errors.ts';
import type { HttpResponse } from '../../http/exchange.ts';
import { TransportFailure } from '../../http/failure.ts';
import { isTransient, MAX_ATTEMPTS } from '../../http/retry.ts';
import { elementText } from '../../transfer/store.ts';
import { decodedUri } from '../../../schema/address.ts';
import { MAX_TEXT_BYTES, type StoredFile } from '../store.ts';
import type { S3Requests } from './requests.ts';

/** The size of the ranges in which objects are read. Each range is read into memory at once, even if its consumer is slow. */
const RANGE = 8 * 1024 * 1024;

const EMPTY_PART = new TransportFailure('reset', 'body', 'the store sent an empty part');

/**
 * Yields the bytes of an object or of a part of the object. Resumes a body that breaks off, from the same version of the object.
 * @throws SvcError `not_found`, `checksum_mismatch` if the object changed while it was read
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
    // Without new bytes, the next request would be the same again.
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

/** Requests a range. The first request has no ETag to match. Returns undefined if the object ends before the range. */
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
  const isRest = response.status === 206 ? startOf(response) === at : at === 0;
  if (refusal === undefined && isRest) return response;
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

const MAX_PAGE = 16 * 1024 * 1024;

/** Lists the objects whose path begins with `prefix` (ListObjectsV2); with `after`, only paths after it. */
export async function* listObjects(requests: S3Requests, prefix: string, after?: string): AsyncGenerator<StoredFile> {
  const { location } = requests;
  const start = after === undefined ? {} : { 'start-after': location.prefix + after };
  for await (const { objects } of listPages(requests, { prefix: location.prefix + prefix, ...start }))
    for (const { key, ...facts } of objects)
      if (key.startsWith(location.prefix)) yield { path: key.slice(location.prefix.length), ...facts };
}

/** Lists the names directly below the location. The names of folders end with a slash. */
export async function listNames(requests: S3Requests): Promise<string[]> {
  const { prefix } = requests.location;
  const keys: string[] = [];
  for await (const { objects, folders } of listPages(requests, { prefix, delimiter: '/' }))
    keys.push(...objects.map(({ key }) => key), ...folders);
  const below = keys.filter((key) => key.startsWith(prefix) && key !== prefix).map((key) => key.slice(prefix.length));
  // A store that ignores the delimiter lists all objects.
  return [...new Set(below.map((path) => /^[^/]*\/?/.exec(path)?.[0] ?? path))].toSorted();
}

async function* listPages(requests: S3Requests, range: Readonly<Record<string, string>>) {
  // The first key and the token of each page. A list that repeats one of them would never end.
  const seen = new Set<string>();
  let token: string | undefined;
  for (;;) {
    const query = {
      'list-type': '2',
      'encoding-type': 'url',
      ...range,
      ...(token !== undefined && { 'continuation-token': token }),
    };
    const request = { method: 'GET', action: 's3:ListBucket', path: '', query, bodyLimit: MAX_PAGE } as const;
    const { body } = await requests.send(request);
    if (!body?.complete) throw unexpected(requests, 'sends a list larger than it should be');
    const page = readPage(requests, body.bytes.toString('utf8'));
    for (const mark of [...page.objects.slice(0, 1).map(({ key }) => `key ${key}`), `token ${page.next ?? 'none'}`]) {
      if (seen.has(mark)) throw unexpected(requests, 'repeats a page of its list');
      seen.add(mark);
    }
    yield page;
    if (page.next === undefined) return;
    token = page.next;
  }
}

function timeOf(text: string | undefined): number | undefined {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? undefined : at;
}

function readPage(requests: S3Requests, xml: string) {
  const [list] = elements(xml, 'ListBucketResult');
  if (list === undefined) throw unexpected(requests, 'does not return a list');
  const isEncoded = elementText(list, 'EncodingType') === 'url';
  const decoded = (key = ''): string => (isEncoded ? (decodedUri(key.replaceAll('+', ' ')) ?? key) : key);
  const folders = elements(list, 'CommonPrefixes').map((folder) => decoded(elementText(folder, 'Prefix')));
  const objects = elements(list, 'Contents').map((contents) => {
    return {
      key: decoded(elementText(contents, 'Key')),
      bytes: Number(elementText(contents, 'Size') ?? Number.NaN),
      changedAt: timeOf(elementText(contents, 'LastModified')),
    };
  });
  if (objects.some(({ key, bytes }) => key === '' || !Number.isSafeInteger(bytes)))
    throw unexpected(requests, 'lists an object without a key or a size');
  const isMore = elementText(list, 'IsTruncated')?.toLowerCase() === 'true';
  const next = elementText(list, 'NextContinuationToken');
  if (isMore && next === undefined) throw unexpected(requests, 'does not say how its list continues');
  return { objects, folders, next: isMore ? next : undefined };
}

function unexpected({ location }: S3Requests, what: string): SvcError {
  return new SvcError('bad_response', `${location.name}: the store ${what}`, {
    hint: 'Check that AWS_ENDPOINT_URL_S3 is an S3-compatible store.',
  });
}

/** Returns the content of all elements of this name, with any namespace prefix; none if the text is not XML. */
export function elements(xml: string, name: string): string[] {
  const begin = new RegExp(`<(?:\\w{1,32}:)?${name}(?:\\s[^<>]{0,1000})?>`, 'g');
  const end = new RegExp(`</(?:\\w{1,32}:)?${name}\\s{0,10}>`, 'g');
  const contents: string[] = [];
  for (;;) {
    const opened = begin.exec(xml);
    end.lastIndex = begin.lastIndex;
    const closed = opened && end.exec(xml);
    if (!closed) return contents;
    contents.push(xml.slice(begin.lastIndex, closed.index));
    begin.lastIndex = end.lastIndex;
  }
}
