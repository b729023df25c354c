/** The credentials of the sandbox's buckets. Fixed and no secret. */
export const STORE_CREDENTIALS = {
  accessKeyId: 'sandbox-store-access-key',
  secretAccessKey: 'sandbox-store-secret-key',
} as const;

/** The only region of the sandbox's buckets. */
export const STORE_REGION = 'us-east-1';

/** The bucket that is always there. */
export const FIRST_BUCKET = 'sandbox';
