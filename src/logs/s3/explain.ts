import type { ErrorCode } from '../../errors.ts';
import type { StoreError } from '../../transfer/store.ts';
import type { BucketLocation } from './settings.ts';

/** What was asked of the store: its word for the permission that this needs, such as `s3:PutObject`. */
export type S3Action = 's3:GetObject' | 's3:PutObject' | 's3:DeleteObject' | 's3:ListBucket';

/** A request and an answer to it that is no success. */
export interface S3Refusal {
  readonly place: BucketLocation;
  readonly url: URL;
  readonly action: S3Action;
  readonly status: number;
  readonly error: StoreError;
  /** Where the store says that the bucket is. */
  readonly region: string | undefined;
}

/** What an answer means, and whose move it is. */
export interface Explanation {
  readonly code: ErrorCode;
  readonly words: string;
  readonly hint: string;
}

/** Explains an answer that is no success: by the store's own word, else by its status. */
export function explain({ place, action, status, error, region }: S3Refusal): Explanation {
  if (region !== undefined && (status === 301 || status === 307 || status === 400))
    return {
      code: 'config',
      words: 'the bucket is in another region',
      hint: `Set AWS_REGION=${region}.`,
    };
  if (status < 400)
    return {
      code: 'bad_response',
      words: 'the store redirects, and redirects are not followed',
      hint: 'Check AWS_ENDPOINT_URL_S3 and AWS_REGION.',
    };
  return (
    BY_CODE[error.code ?? '']?.(place, action) ??
    (status === 403 ? denied(action) : status === 404 ? absent() : other(status))
  );
}

const BY_CODE: Readonly<Record<string, (place: BucketLocation, action: S3Action) => Explanation>> = {
  NoSuchBucket: ({ bucket }) => ({
    code: 'not_found',
    words: `there is no bucket ${bucket}`,
    hint: 'Make the bucket, or check its name, AWS_REGION and AWS_ENDPOINT_URL_S3.',
  }),
  NoSuchKey: absent,
  AccessDenied: (_, action) => denied(action),
  AllAccessDisabled: (_, action) => denied(action),
  SignatureDoesNotMatch: credentials,
  InvalidAccessKeyId: credentials,
  InvalidToken: credentials,
  TokenRefreshRequired: credentials,
  ExpiredToken: () => ({
    code: 'unauthorized',
    words: 'the credentials have expired',
    hint: 'Get new ones and set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.',
  }),
  RequestTimeTooSkewed: () => ({
    code: 'unauthorized',
    words: "this machine's clock is too far from the store's",
    hint: 'Set the clock of this machine.',
  }),
  AuthorizationHeaderMalformed: () => ({
    code: 'config',
    words: 'the store did not accept how the request was signed',
    hint: 'Check AWS_REGION: it is part of the signature.',
  }),
  SlowDown: slowDown,
  TooManyRequests: slowDown,
  InvalidObjectState: () => ({
    code: 'rejected',
    words: 'the object was moved to cold storage',
    hint: 'Restore it in the store first.',
  }),
  QuotaExceeded: full,
  XMinioStorageFull: full,
};

function absent(): Explanation {
  return {
    code: 'not_found',
    words: 'the object does not exist',
    hint: "'svc logs verify' tells what an archive lacks.",
  };
}

function denied(action: S3Action): Explanation {
  return {
    code: 'forbidden',
    words: 'these credentials are not allowed to do this',
    hint: `Allow ${action} on the bucket, or use other credentials.`,
  };
}

function credentials(): Explanation {
  return {
    code: 'unauthorized',
    words: 'the store did not accept the credentials',
    hint: 'Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and the endpoint that they belong to.',
  };
}

function slowDown(): Explanation {
  return {
    code: 'rate_limited',
    words: 'the store limits requests',
    hint: 'Wait a little and run the command again; it goes on where it stopped.',
  };
}

function full(): Explanation {
  return { code: 'rejected', words: 'the store is full', hint: 'Make room or raise the quota.' };
}

function other(status: number): Explanation {
  const isServer = status >= 500 || status === 408;
  if (status === 429) return slowDown();
  return {
    code: isServer ? 'server' : 'rejected',
    words: isServer ? 'the store failed' : 'the store rejected the request',
    hint: isServer
      ? 'Run the command again later; that is safe.'
      : 'Check that AWS_ENDPOINT_URL_S3 is an S3-compatible store, then fix what the message names.',
  };
}
