import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { StoreRefusal } from '../store/refusal.ts';

const ALGORITHM = 'AWS4-HMAC-SHA256';
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 +Credential=([^/,]+)\/(\d{8})\/([^/,]+)\/([^/,]+)\/aws4_request, *SignedHeaders=([^, ]+), *Signature=([0-9a-f]{64})$/;
const DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;
const LARGEST_SKEW_MS = 15 * 60_000;

/** Whether a request is signed as requests to buckets are. */
export function isSigned({ headers }: IncomingMessage): boolean {
  return headers.authorization?.startsWith(`${ALGORITHM} `) === true;
}

/**
 * Checks the signature (version 4, in the Authorization header) of a request, and gives the hash that its body must
 * have: hexadecimal SHA-256, or undefined where the body is not signed. Throws what a store answers otherwise.
 */
export function checkSignature(incoming: IncomingMessage, now: number): string | undefined {
  const { headers } = incoming;
  const match = AUTHORIZATION.exec(headers.authorization ?? '');
  if (match === null) throw malformed('The authorization header is malformed.');
  const [, accessKey = '', date = '', region = '', service = '', names = '', given = ''] = match;
  if (accessKey !== STORE_CREDENTIALS.accessKeyId)
    throw new StoreRefusal(403, 'InvalidAccessKeyId', 'The access key id is not known.', {
      AWSAccessKeyId: accessKey,
    });
  if (region !== STORE_REGION || service !== 's3')
    throw malformed(`The region '${region}' is wrong; expecting '${STORE_REGION}'`, { Region: STORE_REGION });
  const time = headers['x-amz-date']?.toString() ?? '';
  checkTime(time, date, now);
  const payload = payloadHash(incoming);
  checkSignedHeaders(incoming, names.split(';'));
  const request = canonicalRequest(incoming, names.split(';'), payload);
  const text = [ALGORITHM, time, `${date}/${region}/${service}/aws4_request`, sha256(request)].join('\n');
  const wanted = hmac(signingKey(date, region, service), text).toString('hex');
  if (!timingSafeEqual(Buffer.from(wanted), Buffer.from(given)))
    throw new StoreRefusal(403, 'SignatureDoesNotMatch', 'The signature does not match the request.', {
      AWSAccessKeyId: accessKey,
      StringToSign: text,
      SignatureProvided: given,
      CanonicalRequest: request,
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
  throw new StoreRefusal(
    403,
    'RequestTimeTooSkewed',
    'The time of the request is too far from the server time.',
    {
      RequestTime: time,
      ServerTime: new Date(now).toISOString(),
      MaxAllowedSkewMilliseconds: String(LARGEST_SKEW_MS),
    },
  );
}

function payloadHash({ headers }: IncomingMessage): string {
  const hash = headers['x-amz-content-sha256']?.toString();
  if (hash === undefined)
    throw new StoreRefusal(400, 'InvalidRequest', 'The x-amz-content-sha256 header is missing.');
  if (hash === 'UNSIGNED-PAYLOAD' || /^[0-9a-f]{64}$/.test(hash)) return hash;
  if (hash.startsWith('STREAMING-'))
    throw new StoreRefusal(501, 'NotImplemented', 'Bodies signed in pieces are not implemented.');
  throw new StoreRefusal(
    400,
    'InvalidArgument',
    'x-amz-content-sha256 must be a SHA-256 or UNSIGNED-PAYLOAD.',
  );
}

// Whatever says what is to happen must be signed, or somebody in between could change it.
function checkSignedHeaders({ headers }: IncomingMessage, names: readonly string[]): void {
  const needed = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'));
  const unsigned = needed.filter((name) => !names.includes(name));
  if (unsigned.length === 0 && names.includes('host') && names.join() === names.toSorted().join()) return;
  throw new StoreRefusal(
    403,
    'AccessDenied',
    'There were headers present in the request which were not signed.',
    {
      HeadersNotSigned: unsigned.join(', '),
    },
  );
}

function signingKey(date: string, region: string, service: string): Buffer {
  const { secretAccessKey } = STORE_CREDENTIALS;
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
function canonicalRequest(incoming: IncomingMessage, names: readonly string[], payload: string): string {
  const [path, query] = splitOnce(incoming.url ?? '');
  const headers = names.map((name) => {
    const value = incoming.headers[name] ?? '';
    return `${name}:${String(value).trim().replace(/ +/g, ' ')}\n`;
  });
  return [
    incoming.method,
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

function splitOnce(target: string): [string, string] {
  const at = target.indexOf('?');
  return at === -1 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)];
}

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function decodedPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new StoreRefusal(400, 'InvalidURI', 'The address could not be read.');
  }
}

// Everything but the unreserved characters, which encodeURIComponent takes for a few more.
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The credentials of the sandbox's buckets. Fixed and no secret. */
export const STORE_CREDENTIALS = {
  accessKeyId: 'sandbox-store-access-key',
  secretAccessKey: 'sandbox-store-secret-key',
} as const;

/** The only region of the sandbox's buckets. */
export const STORE_REGION = 'us-east-1';

/** The bucket that is always there. */
export const FIRST_BUCKET = 'sandbox';
