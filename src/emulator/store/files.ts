import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { HOUR_MS } from '../../schema/durations.ts';
import { StoreRefusal } from './responses.ts';

const DRAFT_ENDING = '.draft';

// Drafts older than this belong to no running upload.
const STALE_MS = 2 * HOUR_MS;

export type StoreFiles = ReturnType<typeof storeFiles>;

/** Returns the files of the store. A file is written as a draft and renamed when it is complete. */
export function storeFiles(directory: string) {
  return {
    /** Returns the file of an object. The folder of the object becomes part of the file name. */
    path(object: string): string {
      const area = object.includes('/results/') ? 'result' : 'request';
      return join(directory, `${area}-${basename(object)}`);
    },
    /** Returns the path for a new draft. */
    draft(): string {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      return join(directory, `${randomUUID()}${DRAFT_ENDING}`);
    },
    discard: (draft: string): void => rmSync(draft, { force: true }),
    /** Removes drafts of killed processes. `now` is the file system's time. */
    sweep(now: number): void {
      for (const name of readdirSync(directory)) {
        const path = join(directory, name);
        const { mtimeMs = now } = statSync(path, { throwIfNoEntry: false }) ?? {};
        if (name.endsWith(DRAFT_ENDING) && mtimeMs < now - STALE_MS) rmSync(path, { force: true });
      }
    },
  };
}

export function requestObject(job: string): string {
  return `/store/requests/${job}.csv`;
}

export function resultObject(job: string): string {
  return `/store/results/${job}.csv`;
}

/** Returns the job of an object; undefined for any other path. */
export function jobOfObject(path: string): string | undefined {
  return /^\/store\/(?:requests|results)\/([0-9a-f-]{36}|job_[0-9A-F]{26})\.csv$/.exec(path)?.[1];
}

/** The permission that an address grants: one method on one object, until a time. */
export interface Grant {
  readonly method: string;
  readonly object: string;
  /** Expiry in milliseconds; the address rounds it up to a whole second. */
  readonly expires: number;
}

/** Signs an address. The signature does not cover the host, so that any process of the directory can serve it. */
export function signedAddress(origin: string, grant: Grant, secret: string): string {
  const expires = String(Math.ceil(grant.expires / 1000));
  const query = new URLSearchParams({ expires, signature: sign(textToSign(grant, expires), secret) });
  return `${origin}${grant.object}?${query.toString()}`;
}

/** Checks a request's address. Throws a store's refusal if it is unsigned, altered or expired. */
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

/** Computes the signature of a text, for use in an address. */
export function sign(text: string, secret: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}

/** Compares two texts in constant time. */
export function isEqual(left: string, right: string): boolean {
  const a = Buffer.from(left);
  const b = Buffer.from(right);
  return a.length === b.length && timingSafeEqual(a, b);
}
