import { type ErrorCode, SvcError } from '../../errors.ts';
import { displayHost } from '../../security/address.ts';
import { describeStoreError, type StoreError } from '../../transfer/store.ts';
import type { BucketLocation } from './settings.ts';

/** The permission that a request needs. */
export type S3Action = 's3:GetObject' | 's3:PutObject' | 's3:DeleteObject' | 's3:ListBucket';

/** A response that is no success, and its request. */
export interface S3Refusal {
  readonly location: BucketLocation;
  readonly url: URL;
  readonly action: S3Action;
  readonly status: number;
  readonly error: StoreError;
  /** Where the store says that the bucket is. */
  readonly region: string | undefined;
}

/** `{bucket}`, `{action}` and `{region}` stand for those of the request. */
type Explanation = readonly [code: ErrorCode, words: string, hint: string];

/** The error for a response that is no success: by the store's own error code, else by its status. */
export function s3Error(refusal: S3Refusal): SvcError {
  const { location, url, action, status, error, region } = refusal;
  const [code, words, hint] = explanationOf(refusal);
  const filled = (text: string): string =>
    text
      .replace('{bucket}', location.bucket)
      .replace('{action}', action)
      .replace('{region}', region ?? '');
  const response = `${describeStoreError(status, error)}, ${displayHost(url)}`;
  return new SvcError(code, `${location.name}: ${filled(words)} (${response})`, {
    status,
    requestId: error.requestId,
    hint: filled(hint),
    facts: { bucket: location.bucket, store_code: error.code },
  });
}

function explanationOf({ status, error, region }: S3Refusal): Explanation {
  if (region !== undefined && [301, 307, 400].includes(status)) return OTHER_REGION;
  if (status < 400) return REDIRECT;
  const known = BY_CODE[error.code ?? ''] ?? BY_STATUS[status];
  return known ?? (status >= 500 ? FAILED : REJECTED);
}

const OTHER_REGION: Explanation = ['config', 'the bucket is in another region', 'Set AWS_REGION={region}.'];
const REDIRECT: Explanation = [
  'bad_response',
  'the store redirects, and redirects are not followed',
  'Check AWS_ENDPOINT_URL_S3 and AWS_REGION.',
];
const FAILED: Explanation = ['server', 'the store failed', 'Run the command again later; that is safe.'];
const REJECTED: Explanation = [
  'rejected',
  'the store rejected the request',
  'Check that AWS_ENDPOINT_URL_S3 is an S3-compatible store, then fix what the message names.',
];
const ABSENT: Explanation = [
  'not_found',
  'the object does not exist',
  'Verify the archive to see what is missing from it.',
];
const DENIED: Explanation = [
  'forbidden',
  'these credentials are not allowed to do this',
  'Allow {action} on the bucket, or use other credentials.',
];
const CREDENTIALS: Explanation = [
  'unauthorized',
  'the store did not accept the credentials',
  'Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and the endpoint that they belong to.',
];
const SLOW_DOWN: Explanation = [
  'rate_limited',
  'the store limits requests',
  'Wait a little and run the command again; it resumes where it stopped.',
];
const FULL: Explanation = ['rejected', 'the store is full', 'Make room or raise the quota.'];

const BY_STATUS: Readonly<Record<number, Explanation>> = {
  403: DENIED,
  404: ABSENT,
  408: FAILED,
  429: SLOW_DOWN,
};

const BY_CODE: Readonly<Record<string, Explanation>> = {
  NoSuchBucket: [
    'not_found',
    'there is no bucket {bucket}',
    'Create the bucket, or check its name, AWS_REGION and AWS_ENDPOINT_URL_S3.',
  ],
  NoSuchKey: ABSENT,
  AccessDenied: DENIED,
  AllAccessDisabled: DENIED,
  SignatureDoesNotMatch: CREDENTIALS,
  InvalidAccessKeyId: CREDENTIALS,
  InvalidToken: CREDENTIALS,
  TokenRefreshRequired: CREDENTIALS,
  ExpiredToken: [
    'unauthorized',
    'the credentials have expired',
    'Get new ones and set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.',
  ],
  RequestTimeTooSkewed: [
    'unauthorized',
    "this machine's clock is too far from the store's",
    'Set the clock of this machine.',
  ],
  AuthorizationHeaderMalformed: [
    'config',
    'the store did not accept how the request was signed',
    'Check AWS_REGION: it is part of the signature.',
  ],
  SlowDown: SLOW_DOWN,
  TooManyRequests: SLOW_DOWN,
  InvalidObjectState: ['rejected', 'the object was moved to cold storage', 'Restore it in the store first.'],
  QuotaExceeded: FULL,
  XMinioStorageFull: FULL,
};
