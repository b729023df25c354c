import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip, type Gzip } from 'node:zlib';
import { writeFailure } from '../write-failure.ts';
import type { LocalFile } from './store.ts';

/**
 * Which tenant's and which day's entries a segment holds (UTC, or `unknown`), whether they came late, and whether there
 * are readers of JSON that do not take them.
 */
export interface SegmentKind {
  readonly tenantId: string;
  readonly day: string;
  readonly supplementary: boolean;
  readonly isRaw: boolean;
}

/** A segment that is written whole and flushed, and waits for its commit. */
export interface ClosedSegment extends SegmentKind {
  readonly file: LocalFile;
  readonly entries: number;
  /** The earliest and latest time of its entries, in epoch milliseconds; undefined where none can be read. */
  readonly first: number | undefined;
  readonly last: number | undefined;
}

const CHUNK_CHARACTERS = 64 * 1024;

/** A segment as it is written: lines of JSON, compressed as they come, so that its size does not matter. */
export class SegmentFile {
  readonly kind: SegmentKind;
  readonly #file: string;
  readonly #gzip: Gzip;
  readonly #written: Promise<Omit<LocalFile, 'path'>>;
  #text = '';
  #entries = 0;
  #first: number | undefined;
  #last: number | undefined;

  /** `file` must not exist. Failures show at the next call. */
  constructor(file: string, kind: SegmentKind) {
    this.kind = kind;
    this.#file = file;
    // The level shows in the header: a late entry's file never has the bytes, and so the name, of another's.
    const level = kind.supplementary ? constants.Z_BEST_COMPRESSION : constants.Z_DEFAULT_COMPRESSION;
    this.#gzip = createGzip({ level });
    this.#written = writeOut(this.#gzip, file);
    this.#written.catch(ignore);
  }

  /** Adds an entry as a line; `at` is its time, where that can be read. @throws SvcError `local` */
  async add(line: string, at: number | undefined): Promise<void> {
    this.#entries += 1;
    if (at !== undefined) {
      this.#first = Math.min(this.#first ?? at, at);
      this.#last = Math.max(this.#last ?? at, at);
    }
    this.#text += `${line}\n`;
    if (this.#text.length >= CHUNK_CHARACTERS) await this.#flush();
  }

  /** Ends the file and flushes it to the disk. @throws SvcError `local` */
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

  /** Gives the file up. */
  abandon(): void {
    this.#gzip.destroy();
  }

  async #flush(): Promise<void> {
    const text = this.#text;
    this.#text = '';
    if (this.#gzip.write(text)) return;
    // When the disk takes no more, the drain never comes.
    await Promise.race([once(this.#gzip, 'drain').catch(ignore), this.#whenWritten()]);
    if (this.#gzip.destroyed) await this.#whenWritten();
  }

  async #whenWritten(): Promise<Omit<LocalFile, 'path'>> {
    try {
      return await this.#written;
    } catch (error) {
      throw writeFailure(this.#file, error);
    }
  }
}

async function writeOut(gzip: Gzip, file: string): Promise<Omit<LocalFile, 'path'>> {
  const hash = createHash('sha256');
  let bytes = 0;
  const handle = await fs.promises.open(file, 'wx', 0o600);
  try {
    await pipeline(gzip, async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        hash.update(chunk);
        // A nearly full disk takes a part and says so; only the next write fails.
        for (let at = 0; at < chunk.length;) at += (await handle.write(chunk, at)).bytesWritten;
        bytes += chunk.length;
      }
    });
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { bytes, sha256: hash.digest('hex') };
}

function ignore(): void {
  // It is told by the promise of the whole file.
}
