import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { type Duplex, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import zlib from 'node:zlib';
import { systemCodeOf, writeFailure } from '../errors.ts';
import { ownMember } from '../../schema/own-member.ts';

/** The maximum size of a decompressed file, far above any result file. */
const MAX_BYTES = 1024 * 1024 * 1024;

/** The decoders by content coding. */
const DECODERS: Readonly<Record<string, () => Duplex>> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
};

/** The size and hash of a file that was decompressed in place. */
export interface DecodedFile {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** The error for compressed bytes that are damaged, incomplete, or far too long. */
export class Undecodable extends Error {}

/**
 * Replaces a compressed file by its decompressed content.
 * @throws Undecodable for damaged, truncated or oversized content; SvcError `local` for a failure of the disk
 */
export async function decodeFile(file: string, coding: string, maxBytes = MAX_BYTES): Promise<DecodedFile> {
  const decoder = ownMember(DECODERS, coding);
  if (decoder === undefined) throw new Undecodable(`has the coding ${coding}`);
  const plain = `${file}.plain`;
  const hash = createHash('sha256');
  let bytes = 0;
  const counted = new Transform({
    transform(piece: Buffer, _, done) {
      bytes += piece.byteLength;
      hash.update(piece);
      if (bytes > maxBytes) done(new Undecodable('is far too long'));
      else done(null, piece);
    },
  });
  try {
    fs.rmSync(plain, { force: true });
    const output = fs.createWriteStream(plain, { flags: 'wx', mode: 0o600, flush: true });
    await pipeline(fs.createReadStream(file), decoder(), counted, output);
    fs.renameSync(plain, file);
    return { bytes, sha256: hash.digest('hex') };
  } catch (error) {
    fs.rmSync(plain, { force: true });
    if (error instanceof Undecodable) throw error;
    const code = systemCodeOf(error) ?? '';
    if (/^(?:Z_|ERR_|ZSTD_)/.test(code)) throw new Undecodable('is damaged or breaks off');
    throw writeFailure(file, error);
  }
}
