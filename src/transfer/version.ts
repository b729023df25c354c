import type { Answer } from '../http/exchange.ts';

type Headers = Pick<Answer, 'header'>;

/** Names one content of an object exactly: enough to go on with it later. */
export interface Version {
  /** A strong ETag, quotes included. */
  readonly etag: string;
  /** Bytes of the whole object. */
  readonly total: number;
}

/** The version of a whole answer; undefined when it has no strong ETag or no length. */
export function versionOf(answer: Headers): Version | undefined {
  const etag = strongEtag(answer);
  const total = lengthOf(answer);
  return etag === undefined || total === undefined ? undefined : { etag, total };
}

/** Whether a 206 holds exactly the rest of this version from `offset` on (R45). */
export function continues(answer: Headers, { etag, total }: Version, offset: number): boolean {
  const range = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(answer.header('content-range') ?? '');
  const length = lengthOf(answer);
  return (
    strongEtag(answer) === etag &&
    !isEncoded(answer) &&
    Number(range?.[1]) === offset &&
    Number(range?.[2]) === total - 1 &&
    Number(range?.[3]) === total &&
    (length === undefined || length === total - offset)
  );
}

/** `Content-Length` in bytes, where there is a valid one. */
export function lengthOf({ header }: Headers): number | undefined {
  const text = header('content-length') ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Whether the body is packed, though nothing but the plain bytes was asked for. */
export function isEncoded({ header }: Headers): boolean {
  const encoding = header('content-encoding')?.trim().toLowerCase() ?? '';
  return encoding !== '' && encoding !== 'identity' && encoding !== 'aws-chunked';
}

/**
 * The object's MD5 where its ETag is one: a single-part object of an S3-type store. Of an object that is encrypted
 * with a key of its own, or that was stored in an encoding, the ETag is something else.
 */
export function md5Of({ header }: Headers): string | undefined {
  const md5 = /^"([0-9a-f]{32})"$/i.exec(header('etag') ?? '')?.[1];
  const isEncrypted = header('x-amz-server-side-encryption')?.startsWith('aws:kms') ?? false;
  const hasOwnKey = header('x-amz-server-side-encryption-customer-algorithm') !== undefined;
  const hasEncoding = (header('content-encoding') ?? 'identity') !== 'identity';
  return isEncrypted || hasOwnKey || hasEncoding ? undefined : md5?.toLowerCase();
}

/** What a response says that it is, where that cannot be a file of rows: HTML, XML or JSON. */
export function wrongTypeOf({ header }: Headers): string | undefined {
  const type = header('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^[\w.-]+\/(?:[\w.-]+\+)?(?:html|xhtml|xml|json)$/.test(type) ? type : undefined;
}

function strongEtag({ header }: Headers): string | undefined {
  const etag = header('etag') ?? '';
  return /^"[\x21\x23-\x7e]{1,256}"$/.test(etag) ? etag : undefined;
}
