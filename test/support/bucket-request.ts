import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { AwsV4Signer } from 'aws4fetch';
import { BUCKET } from './bucket-signature.ts';

/** A request to a bucket: signed by a library, perhaps changed after that, and sent by Node. */
export interface BucketRequest {
  readonly method?: string;
  /** The encoded path, with the query. */
  readonly path: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Credentials and scope to sign with in place of those of the bucket server. */
  readonly signer?: Partial<Record<'accessKeyId' | 'secretAccessKey' | 'region' | 'service', string>>;
  /** The time of the signature. */
  readonly at?: number;
  /** Changes the request after it was signed. */
  readonly tamper?: (sent: { headers: Record<string, string>; path: string; body: string | Uint8Array }) => void;
}

export interface BucketResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** The store's error code. */
  readonly code: string | undefined;
}

/** Sends a request to the store at this address. */
export async function toBucket(origin: string, given: BucketRequest): Promise<BucketResponse> {
  const { method = 'GET', path, body = '', headers = {}, signer, at, tamper } = given;
  const { accessKeyId, secretAccessKey, region } = BUCKET;
  const sha256 = createHash('sha256').update(body).digest('hex');
  const md5 = createHash('md5').update(body).digest('base64');
  const signed = await new AwsV4Signer({
    accessKeyId,
    secretAccessKey,
    region,
    service: 's3',
    ...signer,
    method,
    url: origin + path,
    headers: { 'x-amz-content-sha256': sha256, ...(method === 'PUT' && { 'content-md5': md5 }), ...headers },
    datetime: new Date(at ?? Date.now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
  }).sign();
  const length: Record<string, string> = method === 'PUT' ? { 'content-length': String(body.length) } : {};
  const sent = { headers: { ...length, ...Object.fromEntries(signed.headers) }, path, body };
  tamper?.(sent);
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const call = request({ hostname, port, method, path: sent.path, headers: sent.headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        const code = /<Code>(\w+)/.exec(text)?.[1];
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, code });
      });
    });
    call.on('error', reject);
    call.end(sent.body);
  });
}
