import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { AwsV4Signer } from 'aws4fetch';
import { STORE } from '../../../src/emulator/buckets/signature.ts';

/** A request to a bucket as a test makes it: signed by a library, sent by Node, and changed in between. */
export interface BucketRequest {
  readonly method?: string;
  /** With the query, encoded. */
  readonly path: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Credentials and place that are signed with, other than the sandbox's. */
  readonly signer?: Partial<Record<'accessKeyId' | 'secretAccessKey' | 'region' | 'service', string>>;
  /** When it was signed. */
  readonly at?: number;
  /** Changes the request after it was signed. */
  readonly tamper?: (sent: { headers: Record<string, string>; path: string; body: string | Uint8Array }) => void;
}

/** What came back. */
export interface BucketAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** The store's word for a refusal. */
  readonly code: string | undefined;
}

/** Sends a request to a sandbox. */
export async function toBucket(origin: string, asked: BucketRequest): Promise<BucketAnswer> {
  const { method = 'GET', path, body = '', headers = {}, signer, at, tamper } = asked;
  const sha256 = createHash('sha256').update(body).digest('hex');
  const signed = await new AwsV4Signer({
    ...STORE,
    region: 'us-east-1',
    service: 's3',
    ...signer,
    method,
    url: origin + path,
    headers: { 'x-amz-content-sha256': sha256, ...headers },
    datetime: new Date(at ?? Date.now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
  }).sign();
  const length: Record<string, string> = method === 'PUT' ? { 'content-length': String(body.length) } : {};
  const sent = { headers: { ...length, ...Object.fromEntries(signed.headers) }, path, body };
  tamper?.(sent);
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const call = request({ hostname, port, method, path: sent.path, headers: sent.headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => {
        const code = /<Code>(\w+)/.exec(text)?.[1];
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, code });
      });
    });
    call.on('error', reject);
    call.end(sent.body);
  });
}
