// Receives the body of a download, and checks that the body is complete.

import { SvcError } from '../../base/errors.ts';
import { displayHost } from '../../schema/address.ts';
import type { HttpResponse } from '../http/exchange.ts';
import type { RetryableFailure } from '../http/retry.ts';
import type { PartFile, Version } from './part-file.ts';
import type { OnProgress } from './source.ts';

/** The proof that a body is complete: the MD5 in its ETag, its length, the checksum of its compression, its framing, or none. */
export type Proof = 'md5' | 'length' | 'gzip' | 'framing' | 'none';

/** A rule for complete files that a file breaks. */
export interface Flaw {
  /** The name of the rule. Scripts rely on these names. */
  readonly rule: 'checksum' | 'content_type' | 'columns' | 'row_count' | 'tokens' | 'earlier_results' | 'end';
  /** The flaw in words that follow "it", such as "was sent as text/html". */
  readonly problem: string;
}

/** A body that was received to its end. */
export interface Received {
  readonly bytes: number;
  /** The SHA-256 of the bytes, in hexadecimal. */
  readonly sha256: string;
  readonly proof: Proof;
  /** The compression of the bytes, if any. */
  readonly coding?: string | undefined;
  readonly flaws: readonly Flaw[];
}

/** Appends the body of a response to a partial file. Returns a failure if the body is not the rest of the object (R46). */
export async function receive(
  part: PartFile,
  url: URL,
  response: HttpResponse,
  onProgress: OnProgress | undefined,
): Promise<Received | RetryableFailure> {
  const isContinued = response.status === 206;
  const total = isContinued ? part.version?.total : lengthOf(response);
  let isTooLong = false;
  await response
    .receive((piece) => {
      isTooLong ||= total !== undefined && part.length + piece.byteLength > total;
      if (isTooLong) return response.discard();
      part.write(piece);
      onProgress?.({ done: part.length, total });
    })
    .catch((error: unknown) => {
      if (!isTooLong) throw error;
    });
  if (isTooLong) return startOver(part, url, 'sent more than it announced');
  if (total !== undefined && part.length < total) return { error: cutOff(url, part.length, total) };
  return checkComplete(part, url, response, total);
}

function checkComplete(
  part: PartFile,
  url: URL,
  response: HttpResponse,
  total: number | undefined,
): Received | RetryableFailure {
  const expected = md5Of(response);
  const isWrong = expected !== undefined && expected !== part.digests.md5();
  if (isWrong && response.status === 206) return startOver(part, url, 'continued with other bytes');
  const flaws: Flaw[] = [];
  if (isWrong) flaws.push({ rule: 'checksum', problem: 'does not have the MD5 that its ETag gives' });
  const type = wrongTypeOf(response);
  if (type !== undefined) flaws.push({ rule: 'content_type', problem: `was sent as ${type}` });
  const proof = expected === undefined ? proofWithoutHash(response, total) : 'md5';
  return { bytes: part.length, sha256: part.digests.sha256(), proof, coding: codingOf(response), flaws };
}

function proofWithoutHash(response: HttpResponse, total: number | undefined): Proof {
  if (total !== undefined) return 'length';
  const isChunked = /\bchunked\b/i.test(response.header('transfer-encoding') ?? '');
  return isChunked ? 'framing' : 'none';
}

/** Empties the partial file, since its bytes are not the beginning of the object. */
function startOver(part: PartFile, url: URL, problem: string): RetryableFailure {
  part.begin(undefined, false);
  const message = `the store at ${displayHost(url)} ${problem}`;
  return { error: new SvcError('checksum_mismatch', message, { retryable: true }) };
}

function cutOff(url: URL, done: number, total: number): SvcError {
  return new SvcError('truncated', `the store at ${displayHost(url)} broke off after ${done} of ${total} bytes`, {
    hint: 'Run the command again.',
    retryable: true,
    facts: { bytes: done },
  });
}

type Headers = Pick<HttpResponse, 'header'>;

/** Returns the version of the object in a complete response; undefined without a strong ETag or a length. */
export function versionOf(response: Headers): Version | undefined {
  const etag = strongEtag(response);
  const total = lengthOf(response);
  return etag === undefined || total === undefined ? undefined : { etag, total };
}

/** Whether a 206 contains exactly the bytes of this version after the first `offset` (R45). */
export function continues(response: Headers, { etag, total }: Version, offset: number): boolean {
  const range = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(response.header('content-range') ?? '');
  const length = lengthOf(response);
  return (
    strongEtag(response) === etag &&
    codingOf(response) === undefined &&
    Number(range?.[1]) === offset &&
    Number(range?.[2]) === total - 1 &&
    Number(range?.[3]) === total &&
    (length === undefined || length === total - offset)
  );
}

/** Returns the `Content-Length` in bytes; undefined without a valid one. */
function lengthOf({ header }: Headers): number | undefined {
  const text = header('content-length') ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Returns the compression of a body. A store sends an object as it is stored, whatever encodings were requested. */
export function codingOf({ header }: Headers): string | undefined {
  const names = (header('content-encoding') ?? '').toLowerCase().split(',');
  const codings = names.map((name) => name.trim()).filter((name) => !PLAIN_CODINGS.has(name));
  return codings.length === 0 ? undefined : codings.join(', ');
}

const PLAIN_CODINGS: ReadonlySet<string> = new Set(['', 'identity', 'aws-chunked']);

/**
 * Returns the MD5 of an object in hexadecimal, which S3-compatible stores use as ETag. Returns undefined for other ETags, such as of
 * multipart uploads, and for objects that are encrypted or stored compressed, whose ETag is not the MD5 of their bytes.
 */
export function md5Of({ header }: Headers): string | undefined {
  const md5 = /^"([0-9a-f]{32})"$/i.exec(header('etag') ?? '')?.[1];
  const isEncrypted = header('x-amz-server-side-encryption')?.startsWith('aws:kms') ?? false;
  const hasOwnKey = header('x-amz-server-side-encryption-customer-algorithm') !== undefined;
  const hasEncoding = (header('content-encoding') ?? 'identity') !== 'identity';
  return isEncrypted || hasOwnKey || hasEncoding ? undefined : md5?.toLowerCase();
}

/** Returns the content type of a response that cannot be a file of rows: HTML, XML or JSON. */
function wrongTypeOf({ header }: Headers): string | undefined {
  const type = header('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^[\w.-]+\/(?:[\w.-]+\+)?(?:html|xhtml|xml|json)$/.test(type) ? type : undefined;
}

function strongEtag({ header }: Headers): string | undefined {
  const etag = header('etag') ?? '';
  return /^"[\x21\x23-\x7e]{1,256}"$/.test(etag) ? etag : undefined;
}
