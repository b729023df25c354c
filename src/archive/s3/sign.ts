import { AwsV4Signer } from 'aws4fetch';
import type { S3Settings } from './settings.ts';

/** What is signed. The hash is that of the body, hexadecimal SHA-256. */
export interface ToSign {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly sha256: string;
  /** Epoch milliseconds, by the store's clock as far as it is known. */
  readonly now: number;
}

/** The headers of a request with its signature, version 4. Nothing of them may be shown. */
export async function signedHeaders(
  { method, url, headers, sha256, now }: ToSign,
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
