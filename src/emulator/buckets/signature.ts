import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { decodedUri } from '../../schema/address.ts';
import { StoreRefusal } from '../store/responses.ts';

const ALGORITHM = 'AWS4-HMAC-SHA256';
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 +Credential=([^/,]+)\/(\d{8})\/([^/,]+)\/([^/,]+)\/aws4_request, *SignedHeaders=([^, ]+), *Signature=([0-9a-f]{64})$/;
const DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;
const LARGEST_SKEW_MS = 15 * 60_000;

/** Whether the Authorization header of a request is that of a request to buckets. */
export function isSigned(authorization: string | undefined): boolean {
  return authorization?.startsWith(`${ALGORITHM} `) === true;
}

/**
 * Checks the signature (version 4, in the Authorization header) of a request, and returns the hash that its body must
 * have: hexadecimal SHA-256, or undefined where the body is not signed. Throws the refusal of a store otherwise.
 */
export function checkSignature(request: Request, now: number): string | undefined {
  const { headers } = request;
  const match = AUTHORIZATION.exec(headers.get('authorization') ?? '');
  if (match === null) throw malformed('The authorization header is malformed.');
  const [, accessKey = '', date = '', region = '', service = '', names = '', given = ''] = match;
  if (accessKey !== STORE.accessKeyId)
    throw new StoreRefusal(403, 'InvalidAccessKeyId', 'The access key id is not known.', { AWSAccessKeyId: accessKey });
  if (region !== STORE.region || service !== 's3')
    throw malformed(`The region '${region}' is wrong; expecting '${STORE.region}'`, { Region: STORE.region });
  const time = headers.get('x-amz-date') ?? '';
  checkTime(time, date, now);
  const payload = payloadHash(request);
  checkSignedHeaders(request, names.split(';'));
  const canonical = canonicalRequest(request, names.split(';'), payload);
  const text = [ALGORITHM, time, `${date}/${region}/${service}/aws4_request`, sha256(canonical)].join('\n');
  const wanted = hmac(signingKey(date, region, service), text).toString('hex');
  if (!timingSafeEqual(Buffer.from(wanted), Buffer.from(given)))
    throw new StoreRefusal(403, 'SignatureDoesNotMatch', 'The signature does not match the request.', {
      AWSAccessKeyId: accessKey,
      StringToSign: text,
      SignatureProvided: given,
      CanonicalRequest: canonical,
    });
  return payload === 'UNSIGNED-PAYLOAD' ? undefined : payload;
}

function checkTime(time: string, date: string, now: number): void {
  const parts = DATE.exec(time)?.slice(1).map(Number);
  if (parts === undefined || !time.startsWith(date))
    throw new StoreRefusal(403, 'AccessDenied', 'A valid x-amz-date header of that date is needed.');
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts;
  const at = Date.UTC(year, month - 1, day, hour, minute, second);
  if (Math.abs(at - now) <= LARGEST_SKEW_MS) return;
  throw new StoreRefusal(403, 'RequestTimeTooSkewed', 'The time of the request is too far from the server time.', {
    RequestTime: time,
    ServerTime: new Date(now).toISOString(),
    MaxAllowedSkewMilliseconds: String(LARGEST_SKEW_MS),
  });
}

function payloadHash({ headers }: Request): string {
  const hash = headers.get('x-amz-content-sha256');
  if (hash === null) throw new StoreRefusal(400, 'InvalidRequest', 'The x-amz-content-sha256 header is missing.');
  if (hash === 'UNSIGNED-PAYLOAD' || /^[0-9a-f]{64}$/.test(hash)) return hash;
  if (hash.startsWith('STREAMING-'))
    throw new StoreRefusal(501, 'NotImplemented', 'Bodies signed in pieces are not implemented.');
  throw new StoreRefusal(400, 'InvalidArgument', 'x-amz-content-sha256 must be a SHA-256 or UNSIGNED-PAYLOAD.');
}

// Every header that changes what the request does must be signed.
function checkSignedHeaders({ headers }: Request, names: readonly string[]): void {
  const needed = [...headers.keys()].filter((name) => name === 'host' || name.startsWith('x-amz-'));
  const unsigned = needed.filter((name) => !names.includes(name));
  if (unsigned.length === 0 && names.includes('host') && names.join() === names.toSorted().join()) return;
  throw new StoreRefusal(403, 'AccessDenied', 'There were headers present in the request which were not signed.', {
    HeadersNotSigned: unsigned.join(', '),
  });
}

function signingKey(date: string, region: string, service: string): Buffer {
  const { secretAccessKey } = STORE;
  return [region, service, 'aws4_request'].reduce(hmac, hmac(`AWS4${secretAccessKey}`, date));
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function malformed(message: string, details: Readonly<Record<string, string>> = {}): StoreRefusal {
  return new StoreRefusal(400, 'AuthorizationHeaderMalformed', message, details);
}

/** What is signed of a request: its parts in one form, whichever way they were written. */
function canonicalRequest(request: Request, names: readonly string[], payload: string): string {
  const { pathname, search } = new URL(request.url);
  const headers = names.map((name) => {
    const value = request.headers.get(name) ?? '';
    return `${name}:${value.trim().replace(/ +/g, ' ')}\n`;
  });
  return [
    request.method,
    decodedPart(pathname).split('/').map(encoded).join('/'),
    canonicalQuery(search.slice(1)),
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

/** A part of an address, decoded. Throws the refusal of a store where it cannot be. */
export function decodedPart(text: string): string {
  const decoded = decodedUri(text);
  if (decoded === undefined) throw new StoreRefusal(400, 'InvalidURI', 'The address could not be read.');
  return decoded;
}

// Everything but the unreserved characters, which encodeURIComponent takes for a few more.
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** How to reach the sandbox's buckets, and the one that always exists. Fixed and no secret. */
export const STORE = {
  accessKeyId: 'sandbox-store-access-key',
  secretAccessKey: 'sandbox-store-secret-key',
  region: 'us-east-1',
  bucket: 'sandbox',
} as const;
