import { createHash } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createGzip, type Gzip } from 'node:zlib';
import { logFromLine, oddityOf } from '../../api/logs.ts';
import { SvcError, systemCodeOf, writeFailure } from '../../errors.ts';
import { Draft, type Sealed } from '../../files/draft.ts';
import type { Log } from '../../schema/log.ts';
import { isRawSegment, type Segment } from './record.ts';
import type { ArchiveStore, LocalFile } from './store.ts';

/** What a segment holds: entries of one tenant and one day (UTC, or `unknown`), late ones or not, raw ones or not. */
export interface SegmentKind {
  readonly tenantId: string;
  readonly day: string;
  readonly supplementary: boolean;
  readonly isRaw: boolean;
}

/** A segment that is written and flushed, and waits for its commit. */
export interface ClosedSegment extends SegmentKind {
  readonly file: LocalFile;
  readonly entries: number;
  /** The earliest and latest time of its entries, in epoch milliseconds; undefined where none is readable. */
  readonly first: number | undefined;
  readonly last: number | undefined;
}

const CHUNK_CHARACTERS = 64 * 1024;

/** A segment being written: lines of JSON, compressed as they come, so memory use does not depend on its size. */
export class SegmentFile {
  readonly kind: SegmentKind;
  readonly #file: string;
  readonly #gzip: Gzip;
  readonly #written: Promise<Sealed>;
  #text = '';
  #entries = 0;
  #first: number | undefined;
  #last: number | undefined;

  /** `file` must not exist. Failures show at the next call. */
  constructor(file: string, kind: SegmentKind) {
    this.kind = kind;
    this.#file = file;
    // The level is part of the header: a file of late entries never has the bytes, and so the name, of another.
    const level = kind.supplementary ? constants.Z_BEST_COMPRESSION : constants.Z_DEFAULT_COMPRESSION;
    this.#gzip = createGzip({ level });
    this.#written = writeOut(this.#gzip, file);
    this.#written.catch(ignore);
  }

  /** Adds an entry as a line; `at` is its time, if readable. @throws SvcError `local` */
  async add(line: string, at: number | undefined): Promise<void> {
    this.#entries += 1;
    if (at !== undefined) {
      this.#first = Math.min(this.#first ?? at, at);
      this.#last = Math.max(this.#last ?? at, at);
    }
    this.#text += `${line}\n`;
    if (this.#text.length >= CHUNK_CHARACTERS) await this.#flush();
  }

  /** Ends the file and flushes it to disk. @throws SvcError `local` */
  async close(): Promise<ClosedSegment> {
    await this.#flush();
    this.#gzip.end();
    const written = await this.#whenWritten();
    return {
      ...this.kind,
      file: { path: this.#file, ...written },
      entries: this.#entries,
      first: this.#first,
      last: this.#last,
    };
  }

  abandon(): void {
    this.#gzip.destroy();
  }

  async #flush(): Promise<void> {
    const text = this.#text;
    this.#text = '';
    if (this.#gzip.write(text)) return;
    // When the disk is full, the drain never comes.
    await Promise.race([once(this.#gzip, 'drain').catch(ignore), this.#whenWritten()]);
    if (this.#gzip.destroyed) await this.#whenWritten();
  }

  async #whenWritten(): Promise<Sealed> {
    try {
      return await this.#written;
    } catch (error) {
      throw writeFailure(this.#file, error);
    }
  }
}

async function writeOut(gzip: Gzip, file: string): Promise<Sealed> {
  const draft = await Draft.begin(file, path.basename(file));
  await pipeline(gzip, async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) await draft.write(chunk);
  });
  return draft.seal();
}

function ignore(): void {
  // The promise of the whole file reports it.
}

export interface ReadSegmentOptions {
  /** Called with the bytes of each piece of the compressed file. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The longest line of an entry, in characters: a file without line ends must not fill the memory. */
const LONGEST_LINE = 16 * 1024 * 1024;

/**
 * The entries of a segment, in flat memory. Whether the file was changed is known only at the end: read to the end.
 * @throws SvcError `checksum_mismatch` when it was, `not_found` when it is gone
 */
export async function* readSegment(
  store: ArchiveStore,
  segment: Pick<Segment, 'path' | 'bytes' | 'sha256' | 'entries'>,
  options: ReadSegmentOptions = {},
): AsyncGenerator<readonly Log[]> {
  const { path } = segment;
  const seen = { hash: createHash('sha256'), bytes: 0 };
  let [rest, entries] = ['', 0];
  for await (const text of unzipped(path, watched(store.read(path), seen, options))) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LONGEST_LINE) throw changed(path, 'it holds a line too long to be an entry');
    entries += lines.length;
    if (lines.length > 0) yield lines.map((line) => readLine(path, line));
  }
  if (seen.bytes !== segment.bytes)
    throw changed(path, `it has ${seen.bytes} bytes of ${segment.bytes} that were written`);
  if (seen.hash.digest('hex') !== segment.sha256) throw changed(path, 'its SHA-256 is not the one in the manifest');
  if (rest !== '') throw changed(path, 'its last line has no end');
  if (entries !== segment.entries)
    throw changed(path, `it holds ${entries} entries, and the manifest says ${segment.entries}`);
}

function changed(path: string, problem: string): SvcError {
  return new SvcError('checksum_mismatch', `${path} was changed: ${problem}`, {
    hint: 'Verify the archive to see all problems; restore the file from a backup.',
    facts: { path },
  });
}

async function* watched(
  source: AsyncIterable<Uint8Array>,
  seen: { hash: ReturnType<typeof createHash>; bytes: number },
  { onBytes, signal }: ReadSegmentOptions,
): AsyncGenerator<Uint8Array> {
  for await (const piece of source) {
    signal?.throwIfAborted();
    seen.hash.update(piece);
    seen.bytes += piece.byteLength;
    onBytes?.(piece.byteLength);
    yield piece;
  }
}

async function* unzipped(path: string, source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const gunzip = createGunzip({ chunkSize: 32 * 1024 });
  const feeding = pipeline(Readable.from(source, { objectMode: false }), gunzip);
  // Its failure comes out of the other end.
  feeding.catch(() => undefined);
  gunzip.setEncoding('utf8');
  try {
    yield* gunzip as AsyncIterable<string>;
  } catch (error) {
    throw systemCodeOf(error)?.startsWith('Z_') === true ? changed(path, 'it cannot be decompressed') : error;
  } finally {
    gunzip.destroy();
  }
}

function readLine(path: string, line: string): Log {
  let log: Log;
  try {
    log = logFromLine(line);
  } catch {
    throw changed(path, 'it holds a line that is not JSON');
  }
  if (isRawSegment({ path }) || oddityOf(log) !== 'not an object') return log;
  throw changed(path, 'it holds a line that is not a log entry');
}
