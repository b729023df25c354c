// Reads the settings of an S3 store from the environment.

import { SvcError } from '../../../base/errors.ts';
import type { Environment } from '../../../base/system.ts';
import { isSafeAddress, readAddress } from '../../../schema/address.ts';

/** The settings of an S3-compatible store, from the environment variables that AWS tools read. */
export interface S3Settings {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
  readonly region: string;
  /** The address of a store other than AWS, where the bucket is in the path. */
  readonly endpoint: URL | undefined;
}

export const S3_SECRETS = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'] as const;

const DEFAULT_REGION = 'us-east-1';

/** Reads the settings. Errors never show a value. @throws SvcError `key_missing`, `config` */
export function s3Settings(environment: Environment): S3Settings {
  const read = (...names: string[]): string | undefined =>
    names.map((name) => environment[name]?.trim()).find((value) => value !== undefined && value !== '');
  const accessKeyId = read('AWS_ACCESS_KEY_ID');
  const secretAccessKey = read('AWS_SECRET_ACCESS_KEY');
  if (accessKeyId === undefined || secretAccessKey === undefined) throw missing(accessKeyId === undefined);
  const region = read('AWS_REGION', 'AWS_DEFAULT_REGION') ?? DEFAULT_REGION;
  if (!/^[\w-]+$/.test(region))
    throw new SvcError('config', 'AWS_REGION is not a region', { hint: 'Set it to one such as eu-central-1.' });
  const endpoint = ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'].find((name) => read(name) !== undefined);
  return {
    accessKeyId: printable('AWS_ACCESS_KEY_ID', accessKeyId),
    secretAccessKey: printable('AWS_SECRET_ACCESS_KEY', secretAccessKey),
    sessionToken: printable('AWS_SESSION_TOKEN', read('AWS_SESSION_TOKEN')),
    region,
    endpoint: endpoint === undefined ? undefined : parseEndpoint(endpoint, read(endpoint) ?? ''),
  };
}

function printable<T extends string | undefined>(variable: string, value: T): T {
  if (value === undefined || /^[\x21-\x7e]+$/.test(value)) return value;
  throw new SvcError('config', `${variable} contains characters that no credential has`, {
    hint: `Set ${variable} again, without quotes or line ends.`,
  });
}

function parseEndpoint(variable: string, text: string): URL {
  const url = readAddress(text);
  const isPlain = url && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url && isPlain && isSafeAddress(url)) return url;
  throw new SvcError(
    'config',
    `${variable} must be an https address (http only on this machine), without user or query`,
    { hint: `Set ${variable} to one such as https://s3.example.com.` },
  );
}

function missing(isId: boolean): SvcError {
  const variable = isId ? 'AWS_ACCESS_KEY_ID' : 'AWS_SECRET_ACCESS_KEY';
  return new SvcError('key_missing', `no credentials for the store: ${variable} is not set`, {
    hint: `Set ${S3_SECRETS[0]} and ${S3_SECRETS[1]}, and AWS_SESSION_TOKEN if they are temporary. AWS tools can print those of a profile as environment variables.`,
    facts: { missing: variable },
  });
}

export interface BucketLocation {
  readonly bucket: string;
  /** The beginning of every key: empty, or ending with a slash. */
  readonly prefix: string;
  /** The location in messages: `s3://bucket/prefix`. */
  readonly name: string;
}

const BUCKET = /^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/i;

/** Parses `s3://bucket/prefix` or `s3://bucket`. @throws SvcError `usage` */
export function parseBucketLocation(text: string): BucketLocation {
  const [, bucket = '', rest = ''] = /^s3:\/\/([^/]*)(.*)$/i.exec(text) ?? [];
  const parts = rest.split('/').filter((part) => part !== '');
  const isOdd = parts.some((part) => /^\.{1,2}$|[\p{Cc}\\?#]/u.test(part));
  if (!BUCKET.test(bucket) || isOdd)
    throw new SvcError(
      'usage',
      isOdd ? 'the prefix of the bucket contains . or .. or special characters' : 'not a valid bucket name',
      { hint: 'Write it as s3://bucket/prefix, without an endpoint or a query.' },
    );
  const prefix = parts.map((part) => `${part}/`).join('');
  return { bucket, prefix, name: `s3://${[bucket, ...parts].join('/')}` };
}
