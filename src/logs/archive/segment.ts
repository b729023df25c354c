import { once } from 'node:events';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip, type Gzip } from 'node:zlib';
import { writeFailure } from '../../errors.ts';
import { Draft, type Sealed } from '../../files/draft.ts';
import type { LocalFile } from './store.ts';

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

/** Each piece costs a trip to another thread, or to the disk. */
const CHUNK_CHARACTERS = 128 * 1024;
const CHUNK_BYTES = 64 * 1024;

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
    this.#gzip = createGzip({ level, chunkSize: CHUNK_BYTES });
    this.#written = writeOut(this.#gzip, file);
    this.#written.catch(ignore);
  }

  /** Adds an entry as a line; `at` is its time, if readable. Hardly any has to wait. @throws SvcError `local` */
  add(line: string, at: number | undefined): Promise<void> | undefined {
    this.#entries += 1;
    if (at !== undefined) {
      this.#first = Math.min(this.#first ?? at, at);
      this.#last = Math.max(this.#last ?? at, at);
    }
    this.#text += `${line}\n`;
    return this.#text.length >= CHUNK_CHARACTERS ? this.#flush() : undefined;
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
