import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { StoreRefusal } from './responses.ts';

const DRAFT_ENDING = '.draft';

// Long enough that no upload of a live process is removed.
const STALE_MS = 2 * 3_600_000;

export type StoreFiles = ReturnType<typeof storeFiles>;

/** Where the store keeps its objects. A file is written as a draft and renamed when it is whole. */
export function storeFiles(directory: string) {
  return {
    /** The file of an object. Two objects of a job differ by their folder, here by their name. */
    path(object: string): string {
      const area = object.includes('/results/') ? 'result' : 'request';
      return join(directory, `${area}-${basename(object)}`);
    },
    /** A path for an incomplete file. */
    draft(): string {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      return join(directory, `${randomUUID()}${DRAFT_ENDING}`);
    },
    discard: (draft: string): void => rmSync(draft, { force: true }),
    /** Removes drafts that killed processes left. `now` is the file system's time. */
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

/** The job that an object belongs to; undefined for a path that is no object. */
export function jobOfObject(path: string): string | undefined {
  return /^\/store\/(?:requests|results)\/([0-9a-f-]{36})\.csv$/.exec(path)?.[1];
}

/** What an address allows: one method on one object, until a time. */
export interface Grant {
  readonly method: string;
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

/** Checks a request's address. Throws the refusal of a store: not signed, altered, or expired. */
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

/** A signature that goes into an address. */
export function sign(text: string, secret: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}

/** Whether two texts are equal, in a time that does not depend on where they differ. */
export function isEqual(left: string, right: string): boolean {
  const a = Buffer.from(left);
  const b = Buffer.from(right);
  return a.length === b.length && timingSafeEqual(a, b);
}
