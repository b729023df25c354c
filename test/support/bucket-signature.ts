import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { decodedUri } from '../../src/schema/address.ts';

/** The bucket of every bucket server, with its region and credentials. */
export const BUCKET = {
  name: 'logs',
  accessKeyId: 'bucket-access-key',
  secretAccessKey: 'bucket-secret-key',
  region: 'us-east-1',
} as const;

/** Ends a request with an error body as S3-compatible stores write it. */
export class BucketRefusal extends Error {
  readonly status: number;
  readonly code: string;
  /** Further elements. Real stores echo signatures in them, and clients must cope. */
  readonly details: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, details: BucketRefusal['details'] = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 +Credential=([^/,]+)\/(\d{8})\/([^/,]+)\/([^/,]+)\/aws4_request, *SignedHeaders=([^, ]+), *Signature=([0-9a-f]{64})$/;
const DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;
const MAX_SKEW_MS = 15 * 60_000;

type SignedRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

/**
 * Checks the signature (version 4, in the Authorization header) of a request.
 * @returns the SHA-256 that the body must have, in hexadecimal; undefined for a body that is not signed
 * @throws BucketRefusal for any other signature
 */
export function checkSignature(request: SignedRequest, now: number): string | undefined {
  const match = AUTHORIZATION.exec(request.headers.authorization ?? '');
  if (match === null) throw malformed('The authorization header is malformed.');
  const [, accessKey = '', date = '', region = '', service = '', names = '', given = ''] = match;
  if (accessKey !== BUCKET.accessKeyId)
    throw new BucketRefusal(403, 'InvalidAccessKeyId', 'The access key id is not known.', {
      AWSAccessKeyId: accessKey,
    });
  if (region !== BUCKET.region || service !== 's3')
    throw malformed(`The region '${region}' is wrong; expecting '${BUCKET.region}'`, { Region: BUCKET.region });
  const time = headerOf(request, 'x-amz-date');
  checkTime(time, date, now);
  const payload = payloadHash(request);
  checkSignedHeaders(request, names.split(';'));
  const canonical = canonicalRequest(request, names.split(';'), payload);
  const text = [ALGORITHM, time, `${date}/${region}/${service}/aws4_request`, sha256(canonical)].join('\n');
  const expected = hmac(signingKey(date, region, service), text).toString('hex');
  if (!timingSafeEqual(Buffer.from(expected), Buffer.from(given)))
    throw new BucketRefusal(403, 'SignatureDoesNotMatch', 'The signature does not match the request.', {
      AWSAccessKeyId: accessKey,
      StringToSign: text,
      SignatureProvided: given,
      CanonicalRequest: canonical,
    });
  return payload === 'UNSIGNED-PAYLOAD' ? undefined : payload;
}

/** Decodes a part of an address. @throws BucketRefusal where it cannot be decoded */
export function decodedPart(text: string): string {
  const decoded = decodedUri(text);
  if (decoded === undefined) throw new BucketRefusal(400, 'InvalidURI', 'The address could not be read.');
  return decoded;
}

function headerOf({ headers }: SignedRequest, name: string): string {
  return String(headers[name] ?? '');
}

function checkTime(time: string, date: string, now: number): void {
  const parts = DATE.exec(time)?.slice(1).map(Number);
  if (parts === undefined || !time.startsWith(date))
    throw new BucketRefusal(403, 'AccessDenied', 'A valid x-amz-date header of that date is needed.');
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts;
  const at = Date.UTC(year, month - 1, day, hour, minute, second);
  if (Math.abs(at - now) <= MAX_SKEW_MS) return;
  throw new BucketRefusal(403, 'RequestTimeTooSkewed', 'The time of the request is too far from the server time.', {
    RequestTime: time,
    ServerTime: new Date(now).toISOString(),
    MaxAllowedSkewMilliseconds: String(MAX_SKEW_MS),
  });
}

function payloadHash(request: SignedRequest): string {
  const hash = headerOf(request, 'x-amz-content-sha256');
  if (hash === '') throw new BucketRefusal(400, 'InvalidRequest', 'The x-amz-content-sha256 header is missing.');
  if (hash === 'UNSIGNED-PAYLOAD' || /^[0-9a-f]{64}$/.test(hash)) return hash;
  throw new BucketRefusal(400, 'InvalidArgument', 'x-amz-content-sha256 must be a SHA-256 or UNSIGNED-PAYLOAD.');
}

/** Refuses a request with an unsigned header that could change what the request does. */
function checkSignedHeaders({ headers }: SignedRequest, names: readonly string[]): void {
  const needed = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'));
  const unsigned = needed.filter((name) => !names.includes(name));
  if (unsigned.length === 0 && names.includes('host') && names.join() === names.toSorted().join()) return;
  throw new BucketRefusal(403, 'AccessDenied', 'There were headers present in the request which were not signed.', {
    HeadersNotSigned: unsigned.join(', '),
  });
}

function signingKey(date: string, region: string, service: string): Buffer {
  return [region, service, 'aws4_request'].reduce(hmac, hmac(`AWS4${BUCKET.secretAccessKey}`, date));
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function malformed(message: string, details: BucketRefusal['details'] = {}): BucketRefusal {
  return new BucketRefusal(400, 'AuthorizationHeaderMalformed', message, details);
}

/** Returns the text that is signed: the parts of the request in one form, however the client wrote them. */
function canonicalRequest(request: SignedRequest, names: readonly string[], payload: string): string {
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  const headers = names.map((name) => `${name}:${headerOf(request, name).trim().replace(/ +/g, ' ')}\n`);
  return [
    request.method,
    decodedPart(path).split('/').map(encoded).join('/'),
    canonicalQuery(query),
    headers.join(''),
    names.join(';'),
    payload,
  ].join('\n');
}

function canonicalQuery(query: string): string {
  const pairs = query.split('&').filter((pair) => pair !== '');
  const coded = pairs.map((pair) => {
    const at = pair.indexOf('=');
    const [name, value] = at === -1 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
    return [encoded(decodedPart(name)), encoded(decodedPart(value))] as const;
  });
  return coded
    .toSorted(([a, x], [b, y]) => (a === b ? order(x, y) : order(a, b)))
    .map((pair) => pair.join('='))
    .join('&');
}

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Encodes everything but unreserved characters; encodeURIComponent leaves five more as they are. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
