// Decompresses response bodies.

import { ownMember } from '../../schema/own-member.ts';

/** A decoded body, or the reason why it could not be decoded. */
export type DecodedBody = { readonly bytes: Buffer; readonly complete: boolean } | { readonly problem: string };

export interface DecodeOptions {
  /** The maximum size of the decoded body in bytes. */
  readonly limit: number;
  /** Whether to accept the beginning of a body that was cut off. */
  readonly isPartial: boolean;
}

const MAX_ENCODINGS = 3;
/** How often its limit a decoded body may take in memory before it is cut off. */
const MAX_RATIO = 64;

/** Decodes a body by its `Content-Encoding`. A server or proxy may compress a body in any way, requested or not. */
export async function decoded(body: Buffer, header: string | undefined, options: DecodeOptions): Promise<DecodedBody> {
  const encodings = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const applied = encodings.filter((name) => name !== '' && name !== 'identity').toReversed();
  if (applied.length === 0 || body.length === 0) return { bytes: body, complete: true };
  const decoders = await loadDecoders(options);
  const unknown = applied.find((name) => ownMember(decoders, name) === undefined);
  if (unknown !== undefined || applied.length > MAX_ENCODINGS)
    return { problem: 'a body in an encoding that svc cannot decode' };
  try {
    const bytes = applied.reduce((part, name) => ownMember(decoders, name)?.(part) ?? part, body);
    return { bytes: bytes.subarray(0, options.limit), complete: bytes.length <= options.limit };
  } catch (error) {
    const isTooLong = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return isTooLong
      ? { bytes: Buffer.alloc(0), complete: false }
      : { problem: 'a compressed body that is cut off or damaged' };
  }
}

type Decoder = (bytes: Buffer) => Buffer;

/** The zstd decoder, in Node since 22.15. */
interface NewDecoders {
  readonly zstdDecompressSync?: (bytes: Buffer, options: object) => Buffer;
}

/** The first bytes of a body in zstd. */
const CUT_ZSTD = Buffer.from('28b52ffd2001', 'hex');

/** Whether Node's zstd decoder reports truncated bytes. The decoder of Node 22 accepts them, so svc does not use it. */
function noticesCut(unzstd: NonNullable<NewDecoders['zstdDecompressSync']>): boolean {
  try {
    unzstd(CUT_ZSTD, {});
    return false;
  } catch {
    return true;
  }
}

async function loadDecoders({ limit, isPartial }: DecodeOptions): Promise<Readonly<Record<string, Decoder>>> {
  const zlib = await import('node:zlib');
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH, ZSTD_e_flush: flush } = zlib.constants as Record<string, number>;
  // zlib returns nothing of a body that is too long, and the beginning of an error is worth reading.
  const size = { maxOutputLength: isPartial ? limit * MAX_RATIO : limit };
  const options = isPartial ? { ...size, finishFlush: Z_SYNC_FLUSH } : size;
  const gunzip: Decoder = (bytes) => zlib.gunzipSync(bytes, options);
  const { zstdDecompressSync: unzstd } = zlib as NewDecoders;
  return {
    gzip: gunzip,
    'x-gzip': gunzip,
    // Some servers leave out the zlib header.
    deflate: (bytes) =>
      ((bytes[0] ?? 0) & 15) === 8 ? zlib.inflateSync(bytes, options) : zlib.inflateRawSync(bytes, options),
    br: (bytes) =>
      zlib.brotliDecompressSync(bytes, isPartial ? { ...size, finishFlush: BROTLI_OPERATION_FLUSH } : size),
    ...(unzstd &&
      noticesCut(unzstd) && {
        zstd: (bytes: Buffer) => unzstd(bytes, isPartial ? { ...size, finishFlush: flush } : size),
      }),
  };
}
