// Builds the address of an object and signs requests to a bucket.

import { AwsV4Signer } from 'aws4fetch';
import type { S3Settings } from './settings.ts';

/** Returns the address of an object, or of the bucket for an empty key. On AWS the host names the bucket, unless its name has dots. */
export function objectAddress(
  { endpoint, region }: Pick<S3Settings, 'endpoint' | 'region'>,
  bucket: string,
  key: string,
  query: Readonly<Record<string, string>> = {},
): URL {
  const isInHost = endpoint === undefined && !bucket.includes('.');
  const domain = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  const base = endpoint?.href.replace(/\/+$/, '') ?? `https://${isInHost ? `${bucket}.` : ''}${domain}`;
  const parts = [...(isInHost ? [] : [bucket]), ...(key === '' ? [] : key.split('/'))];
  const url = new URL(`${base}/${parts.map(encoded).join('/')}`);
  // URLSearchParams would encode a space as a plus sign, which some stores do not decode.
  url.search = Object.entries(query)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .join('&');
  return url;
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The parts of a request to sign. `sha256` is the hash of the body; `now` is the store's time in epoch milliseconds. */
interface UnsignedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly sha256: string;
  readonly now: number;
}

/** Returns the headers of a request with its signature (version 4). These headers must never be shown. */
export async function signedHeaders(
  { method, url, headers, sha256, now }: UnsignedRequest,
  { accessKeyId, secretAccessKey, sessionToken, region }: S3Settings,
): Promise<Record<string, string>> {
  const signer = new AwsV4Signer({
    method,
    url: url.href,
    headers: { ...headers, 'x-amz-content-sha256': sha256 },
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    region,
    service: 's3',
    datetime: new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, ''),
  });
  const signed = await signer.sign();
  return Object.fromEntries(signed.headers);
}
