// Explains why a store refused a request to a bucket.

import { type ErrorCode, SvcError } from '../../../base/errors.ts';
import { displayHost } from '../../../schema/address.ts';
import { ownMember } from '../../../schema/own-member.ts';
import type { Origin } from '../../http/effect.ts';
import { isTransient } from '../../http/retry.ts';
import { describeStoreError, type StoreError } from '../../transfer/store-response.ts';
import rows from './errors.json' with { type: 'json' };
import type { BucketLocation } from './settings.ts';

export type S3Action = 's3:GetObject' | 's3:PutObject' | 's3:DeleteObject' | 's3:ListBucket';

export interface S3Refusal {
  readonly location: BucketLocation;
  readonly url: URL;
  readonly action: S3Action;
  /** The status of the error, which a store may send in the body of a success. `received` is the status of the response. */
  readonly status: number;
  readonly received: number;
  readonly origin: Origin;
  readonly error: StoreError;
  /** The bucket's region, if the store names another region than the configured one. */
  readonly region: string | undefined;
}

/** Returns the error for an unsuccessful response, chosen by the store's error code, else by the status. */
export function s3Error(refusal: S3Refusal): SvcError {
  const { location, url, action, status, received, error, region } = refusal;
  const { code, words, hint } = explanationOf(refusal);
  const values: Readonly<Record<string, string>> = { bucket: location.bucket, action, region: region ?? '' };
  const fill = (text: string): string => text.replace(/\{(\w+)\}/g, (_, name) => ownMember(values, String(name)) ?? '');
  const response = `${describeStoreError(received, error)}, ${displayHost(url)}`;
  return new SvcError(code, `${location.name}: ${fill(words)} (${response})`, {
    status,
    requestId: error.requestId,
    hint: fill(hint),
    facts: { bucket: location.bucket, store_code: error.code },
  });
}

/** The parts of an error. Words and hint may contain the placeholders `{bucket}`, `{action}` and `{region}`. */
interface Explanation {
  readonly code: ErrorCode;
  readonly words: string;
  readonly hint: string;
}

const REJECTED: Explanation = {
  code: 'rejected',
  words: 'the store rejected the request',
  hint: 'Check that AWS_ENDPOINT_URL_S3 is an S3-compatible store, then fix what the message names.',
};

/** The explanations by the names that `explanationNames` returns. */
const EXPLANATIONS = new Map(rows.flatMap((row) => row.for.map((name) => [name, row as Explanation] as const)));

function explanationOf({ status, action, error, region, origin }: S3Refusal): Explanation {
  const isFromProxy = origin === 'between' && status >= 400 && status < 500 && !isTransient({ status });
  if (isFromProxy) return EXPLANATIONS.get('proxy') ?? REJECTED;
  const names = explanationNames(status, action, error.code, region);
  return names.map((name) => EXPLANATIONS.get(name)).find((found) => found !== undefined) ?? REJECTED;
}

/** Returns the names under which to look for an explanation, best first: a store's error code, a status or a case. */
function explanationNames(status: number, action: S3Action, code = '', region?: string): string[] {
  if (region !== undefined && [301, 307, 400].includes(status)) return ['other region'];
  if (status < 300) return [action === 's3:GetObject' ? 'page for an object' : 'page'];
  if (status < 400) return ['redirect'];
  if (status === 403 && action === 's3:GetObject' && ['', 'AccessDenied'].includes(code)) return ['denied read'];
  if (status === 404 && action !== 's3:GetObject' && code !== 'NoSuchBucket') return ['no list'];
  return [code, String(status), status >= 500 ? 'failed' : ''];
}
