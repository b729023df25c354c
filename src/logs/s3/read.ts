import { createHash } from 'node:crypto';
import { SvcError } from '../../errors.ts';
import type { HttpResponse } from '../../http/exchange.ts';
import { MAX_ATTEMPTS, mayRetry } from '../../http/retry.ts';
import type { TransportFailure } from '../../http/failure.ts';
import { fileSource } from '../../transfer/source.ts';
import { type LocalFile, MAX_TEXT_BYTES, type StoredFile } from '../archive/store.ts';
import type { S3Requests } from './requests.ts';
import type { BucketLocation } from './settings.ts';

/** Objects are read in ranges of this size, each whole into memory, however slow the reader is. */
const RANGE = 8 * 1024 * 1024;

/**
 * The bytes of an object. A body that breaks off is resumed where it stopped, on the very same object.
 * @throws SvcError `not_found`, `altered` when the object changed meanwhile
 */
export async function* readObject(requests: S3Requests, path: string): AsyncGenerator<Uint8Array> {
  let [at, breaks] = [0, 0];
  let [etag, total]: [string | undefined, number] = [undefined, Infinity];
  while (at < total) {
    const answer = await openRange(requests, path, at, etag);
    if (answer === undefined) return;
    etag ??= answer.header('etag');
    total = totalOf(answer);
    const { bytes, failure } = await answer.readPartial(answer.status === 206 ? RANGE : MAX_TEXT_BYTES);
    at += bytes.byteLength;
    if (bytes.byteLength > 0) yield bytes;
    if (failure === undefined && !Number.isFinite(total)) return;
    if (failure === undefined) continue;
    breaks += 1;
    const isHopeless = etag === undefined || !mayRetry({ failure }, 'always') || breaks >= MAX_ATTEMPTS;
    if (isHopeless) throw brokenOff(requests, path, failure);
  }
}

/** Requests the range from `at` on; undefined for an object that is empty. */
async function openRange(
  requests: S3Requests,
  path: string,
  at: number,
  etag: string | undefined,
): Promise<HttpResponse | undefined> {
  const range = `bytes=${at}-${at + RANGE - 1}`;
  const { answer, refusal } = await requests.send({
    method: 'GET',
    action: 's3:GetObject',
    path,
    headers: at === 0 || etag === undefined ? { range } : { range, 'if-match': etag },
    wanted: at === 0 ? [416] : [412, 416],
  });
  const isRest = answer.status === 206 ? startOf(answer) === at : at === 0;
  if (refusal === undefined && isRest) return answer;
  if (at === 0 && answer.status === 416) return undefined;
  if (refusal === undefined) answer.discard();
  throw new SvcError('checksum_mismatch', `${requests.place.name}: ${path} changed while it was read`, {
    hint: 'Run the command again; nobody should write over the files of an archive.',
  });
}

/** Bytes of the whole object, by the headers of a range of it or of all of it. */
function totalOf(answer: HttpResponse): number {
  const header = answer.status === 206 ? 'content-range' : 'content-length';
  return Number(/(\d+)$/.exec(answer.header(header) ?? '')?.[1] ?? Infinity);
}

function startOf(answer: HttpResponse): number {
  return Number(/^bytes (\d+)-/.exec(answer.header('content-range') ?? '')?.[1] ?? Number.NaN);
}

function brokenOff({ place }: S3Requests, path: string, failure: TransportFailure): SvcError {
  return new SvcError('network', `${place.name}: ${path} broke off: ${failure.message}`, {
    hint: 'It is safe to run the command again.',
  });
}

const MAX_IGNORED = 64 * 1024;

/** Reads an answer in which nothing is of interest, so that its connection can serve again. */
export async function drain(answer: HttpResponse): Promise<void> {
  await answer.readPartial(MAX_IGNORED);
}

/** Reads the whole body of a small answer. @throws SvcError `network`, `bad_response` for one that is not small */
async function readText(place: BucketLocation, answer: HttpResponse, limit: number): Promise<string> {
  const { bytes, complete } = await answer.read(limit);
  if (complete) return bytes.toString('utf8');
  throw new SvcError('bad_response', `${place.name}: the store's answer is larger than it should be`);
}

/** A body that can be sent again: each attempt opens it anew. */
export interface S3Body {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  readonly isText: boolean;
  open(): string | AsyncIterable<Uint8Array>;
}

/** The body of a small text. */
export function textBody(text: string): S3Body {
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { bytes: Buffer.byteLength(text), sha256, isText: true, open: () => text };
}

/** The body of a file. @throws SvcError `local` when it cannot be read */
export async function fileBody({ path, bytes, sha256 }: LocalFile): Promise<S3Body> {
  const source = await fileSource(path);
  return { bytes, sha256, isText: false, open: () => source.open() };
}

const MAX_PAGE = 16 * 1024 * 1024;

/** The objects below the place whose path begins with `prefix`, page by page (ListObjectsV2). */
export async function* listObjects(requests: S3Requests, prefix: string): AsyncGenerator<StoredFile> {
  const { place } = requests;
  let token: string | undefined;
  for (;;) {
    const query = {
      'list-type': '2',
      'encoding-type': 'url',
      prefix: place.prefix + prefix,
      ...(token !== undefined && { 'continuation-token': token }),
    };
    const { answer } = await requests.send({ method: 'GET', action: 's3:ListBucket', path: '', query });
    const page = readPage(requests, await readText(place, answer, MAX_PAGE));
    for (const { key, bytes } of page.objects) {
      if (key.startsWith(place.prefix)) yield { path: key.slice(place.prefix.length), bytes };
    }
    if (page.next === undefined) return;
    if (page.next === token) throw senseless(requests, 'gives the same page again and again');
    token = page.next;
  }
}

interface Page {
  readonly objects: readonly { readonly key: string; readonly bytes: number }[];
  readonly next: string | undefined;
}

function readPage(requests: S3Requests, xml: string): Page {
  const [list] = elements(xml, 'ListBucketResult');
  if (list === undefined) throw senseless(requests, 'does not answer with a list');
  const isEncoded = elementText(list, 'EncodingType') === 'url';
  const objects = elements(list, 'Contents').map((contents) => {
    const key = elementText(contents, 'Key') ?? '';
    return {
      key: isEncoded ? decoded(key) : key,
      bytes: Number(elementText(contents, 'Size') ?? Number.NaN),
    };
  });
  if (objects.some(({ key, bytes }) => key === '' || !Number.isSafeInteger(bytes)))
    throw senseless(requests, 'lists an object without a key or a size');
  const isMore = elementText(list, 'IsTruncated')?.toLowerCase() === 'true';
  const next = elementText(list, 'NextContinuationToken');
  if (isMore && next === undefined) throw senseless(requests, 'does not say how its list goes on');
  return { objects, next: isMore ? next : undefined };
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch {
    return key;
  }
}

function senseless({ place }: S3Requests, what: string): SvcError {
  return new SvcError('bad_response', `${place.name}: the store ${what}`, {
    hint: 'Check that AWS_ENDPOINT_URL_S3 is a store of the S3 kind.',
  });
}

/** What all elements of this name hold, whatever namespace prefix they have; nothing for text that is no XML. */
export function elements(xml: string, name: string): string[] {
  const begin = new RegExp(`<(?:\\w{1,32}:)?${name}(?:\\s[^<>]{0,1000})?>`, 'g');
  const end = new RegExp(`</(?:\\w{1,32}:)?${name}\\s{0,10}>`, 'g');
  const found: string[] = [];
  for (;;) {
    const opened = begin.exec(xml);
    end.lastIndex = begin.lastIndex;
    const closed = opened && end.exec(xml);
    if (!closed) return found;
    found.push(xml.slice(begin.lastIndex, closed.index));
    begin.lastIndex = end.lastIndex;
  }
}

/** The text of the first element of this name, with its entities read; undefined where there is none. */
export function elementText(xml: string, name: string): string | undefined {
  const [first] = elements(xml, name);
  return first === undefined ? undefined : decodeEntities(first.trim());
}

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(lt|gt|quot|apos|amp));/gi,
    (whole, decimal, hex, name) => {
      if (name !== undefined) return NAMED[String(name).toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}
