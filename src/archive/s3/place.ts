import { SvcError } from '../../errors.ts';

/** Where in a store of the S3 kind an archive is. */
export interface BucketPlace {
  readonly bucket: string;
  /** What every key begins with: empty, or with a slash at its end. */
  readonly prefix: string;
  /** `s3://bucket/prefix`, for messages. */
  readonly name: string;
}

const BUCKET = /^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/i;

/** Reads `s3://bucket/prefix`; the prefix may be absent. @throws SvcError `usage` */
export function parseBucketPlace(text: string): BucketPlace {
  const [, bucket = '', rest = ''] = /^s3:\/\/([^/]*)(.*)$/i.exec(text) ?? [];
  const parts = rest.split('/').filter((part) => part !== '');
  const isOdd = parts.some((part) => /^\.{1,2}$|[\p{Cc}\\?#]/u.test(part));
  if (!BUCKET.test(bucket) || isOdd)
    throw new SvcError(
      'usage',
      isOdd ? 'the prefix of the bucket is not plain' : 'the bucket has no valid name',
      {
        hint: 'Write it as s3://bucket/prefix, without an endpoint or a query.',
      },
    );
  const prefix = parts.map((part) => `${part}/`).join('');
  return { bucket, prefix, name: `s3://${[bucket, ...parts].join('/')}` };
}
