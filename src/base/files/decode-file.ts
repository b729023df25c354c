import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { type Duplex, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import zlib from 'node:zlib';
import { systemCodeOf, writeFailure } from '../errors.ts';
import { ownMember } from '../../schema/own-member.ts';

/** The most bytes that a file may have once it is decompressed. No result file comes near. */
const MOST_BYTES = 1024 * 1024 * 1024;

/** The decoders by content coding. */
const DECODERS: Readonly<Record<string, () => Duplex>> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
};

/** A file that was decompressed in place. */
export interface Decoded {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** The error for compressed bytes that are damaged, incomplete, or far too long. */
export class Undecodable extends Error {}

/**
 * Replaces a compressed file by its content. All codings but brotli end with a checksum or a length, and none decodes bytes
 * that break off.
 * @throws Undecodable; SvcError `local`
 */
export async function decodeFile(file: string, coding: string, most = MOST_BYTES): Promise<Decoded> {
  const decoder = ownMember(DECODERS, coding);
  if (decoder === undefined) throw new Undecodable(`has the coding ${coding}`);
  const plain = `${file}.plain`;
  const hash = createHash('sha256');
  let bytes = 0;
  const counted = new Transform({
    transform(piece: Buffer, _, done) {
      bytes += piece.byteLength;
      hash.update(piece);
      if (bytes > most) done(new Undecodable('is far too long'));
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
