import { createHmac, timingSafeEqual } from 'node:crypto';
import { StoreRefusal } from './refusal.ts';

/** What an address allows: one method on one object, until a time. */
export interface Grant {
  readonly method: string;
  /** Path of the object. */
  readonly object: string;
  /** Milliseconds; rounded up to a whole second in the address. */
  readonly expires: number;
}

/** Signs an address. The host is no part of what is signed: any process of the directory serves it. */
export function signedAddress(origin: string, grant: Grant, secret: string): string {
  const expires = String(Math.ceil(grant.expires / 1000));
  const query = new URLSearchParams({ expires, signature: sign(textToSign(grant, expires), secret) });
  return `${origin}${grant.object}?${query.toString()}`;
}

/** Checks an address that came in. Throws what a store answers: not signed, altered, or expired. */
export function checkAddress(
  { method, object }: Pick<Grant, 'method' | 'object'>,
  query: URLSearchParams,
  { secret, now }: { secret: string; now: number },
): void {
  const expires = query.get('expires');
  const given = query.get('signature');
  if (expires === null || given === null) throw new StoreRefusal(403, 'AccessDenied', 'Access denied.');
  const text = textToSign({ method, object }, expires);
  if (!isEqual(given, sign(text, secret)))
    throw new StoreRefusal(403, 'SignatureDoesNotMatch', 'The signature does not match the request.', {
      StringToSign: text,
      SignatureProvided: given,
    });
  if (now >= Number(expires) * 1000)
    throw new StoreRefusal(403, 'AccessDenied', 'Request has expired', {
      Expires: new Date(Number(expires) * 1000).toISOString(),
      ServerTime: new Date(now).toISOString(),
    });
}

function textToSign({ method, object }: Pick<Grant, 'method' | 'object'>, expires: string): string {
  return [method, object, expires].join('\n');
}

function sign(text: string, secret: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}

function isEqual(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
