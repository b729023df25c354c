// Reads the entries of a segment, and checks its size, hash and number of entries.

import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, createGunzip, inflateRaw } from 'node:zlib';
import { isSvcError, SvcError, systemCodeOf } from '../../base/errors.ts';
import { formatNumber } from '../../cli/output/number.ts';
import { logFromBytes, logFromLine, malformationOf } from '../../client/api/logs.ts';
import type { Store } from '../../client/store/store.ts';
import type { Log } from '../../schema/log.ts';
import { isRawSegment, MISSING, type Segment, unlessDamaged } from './records/record.ts';
import { AROUND_COLUMNS, type IndexedColumns, shortHash } from './segment-index.ts';
import { needlesFor, linesWith, type LineEncoding, LINE_END } from './find-lines.ts';

/** The number of segments read at a time: one more than the threads that decompress them, of which Node has four. */
export const READERS = Math.min(availableParallelism(), 4) + 1;

export interface ReadSegmentOptions {
  /** Called with the number of compressed bytes after each piece that was read. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The number of entries is unknown where no record names the segment. */
type SegmentFacts = Pick<Segment, 'path' | 'bytes' | 'sha256'> & Partial<Pick<Segment, 'entries'>>;

interface SkipOptions {
  /** Allows skipping entries that certainly have none of these values. */
  readonly among?: readonly string[] | undefined;
  /** Allows skipping the columns that the index rules out. */
  readonly columns?: IndexedColumns | undefined;
}

/** Yields the entries of a segment without the skipped ones. @throws SvcError as `readLines` */
export async function* readSegment(
  store: Store,
  segment: SegmentFacts,
  { among = [], columns, ...options }: ReadSegmentOptions & SkipOptions = {},
): AsyncGenerator<readonly Log[]> {
  const needles = needlesFor(among);
  const encoding = encodingOf(segment);
  const blocks = columns && (await unlessDamaged(readColumns(store, segment, columns, options)));
  for await (const block of blocks ?? readLines(store, segment, options)) {
    const groups = needles ? [[...linesWith(block, needles, encoding)]] : allLines(block, encoding);
    for (const lines of groups) if (lines.length > 0) yield lines.map((line) => readLine(segment.path, line, encoding));
  }
}

function encodingOf(segment: Pick<Segment, 'path'>): LineEncoding {
  return isRawSegment(segment) ? 'latin1' : 'utf8';
}

const MAX_OF_COLUMN = 64 * 1024 * 1024;

/** Reads the lines of the wanted columns, one block for each column. @throws SvcError `checksum_mismatch`, `not_found` */
async function readColumns(
  store: Store,
  { path }: SegmentFacts,
  { columns, wanted }: IndexedColumns,
  { onBytes, signal }: ReadSegmentOptions,
): Promise<Buffer[]> {
  const blocks: Buffer[] = [];
  let from: number = AROUND_COLUMNS.before;
  for (const [at, [length, entries, , hash]] of columns.entries()) {
    from += length;
    if (!wanted.includes(at)) continue;
    signal?.throwIfAborted();
    const bytes = await store.readRange(path, from - length, length);
    if (shortHash(bytes) !== hash) throw changed(path, 'a column is not as in the index');
    const block = await inflateColumn(bytes);
    if (countLines(block) !== entries) throw changed(path, 'a column contains other entries than the index says');
    onBytes?.(length);
    blocks.push(block);
  }
  return blocks;
}

/** Decompresses a column. Returns an empty buffer if the bytes are damaged. */
export function inflateColumn(bytes: Uint8Array): Promise<Buffer> {
  const options = { finishFlush: constants.Z_SYNC_FLUSH, chunkSize: CHUNK_BYTES, maxOutputLength: MAX_OF_COLUMN };
  return promisify(inflateRaw)(bytes, options).catch(() => Buffer.alloc(0));
}

/** The longest accepted line in bytes: an entry is no longer than a response, and a file without line ends must not fill the memory. */
const MAX_LINE_LENGTH = 64 * 1024 * 1024;

/**
 * Yields the lines of a segment in blocks of complete lines, in constant memory. Callers must read to the end, because
 * only the end shows whether the file was changed.
 * @throws SvcError `checksum_mismatch` if the file was changed or is gone
 */
export async function* readLines(
  store: Store,
  segment: SegmentFacts,
  options: ReadSegmentOptions = {},
): AsyncGenerator<Buffer> {
  const { path } = segment;
  const seen = { hash: createHash('sha256'), bytes: 0 };
  let entries = 0;
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of unzipped(path, watched(store.stream(path), seen, options))) {
    const begin = restBytes === 0 ? 0 : chunk.indexOf(LINE_END) + 1;
    const end = chunk.lastIndexOf(LINE_END) + 1;
    // Only a line that spans chunks is copied.
    const first = end === 0 ? [] : [Buffer.concat([...rest, chunk.subarray(0, begin)])];
    for (const block of [...first, chunk.subarray(begin, end)]) {
      if (block.length === 0) continue;
      entries += countLines(block);
      yield block;
    }
    if (end > 0) [rest, restBytes] = [[], 0];
    rest.push(chunk.subarray(end));
    restBytes += chunk.length - end;
    if (restBytes > MAX_LINE_LENGTH) throw changed(path, 'it contains a line that is too long for an entry');
  }
  if (seen.bytes !== segment.bytes)
    throw changed(path, `${formatNumber(seen.bytes)} bytes; ${formatNumber(segment.bytes)} were archived`);
  if (seen.hash.digest('hex') !== segment.sha256) throw changed(path, 'its SHA-256 is not the one in the manifest');
  if (restBytes > 0) throw changed(path, 'its last line has no end');
  if (segment.entries !== undefined && entries !== segment.entries)
    throw changed(path, `${formatNumber(entries)} entries; ${formatNumber(segment.entries)} were archived`);
}

function countLines(block: Buffer): number {
  let lines = 0;
  for (let at = block.indexOf(LINE_END); at !== -1; at = block.indexOf(LINE_END, at + 1)) lines += 1;
  return lines;
}

/** The bytes parsed at once: few enough for the garbage collector to free them while they are young. */
const PARSED_BYTES = 32 * 1024;

function* allLines(block: Buffer, encoding: LineEncoding): Generator<string[]> {
  for (let at = 0; at < block.length;) {
    const end = block.indexOf(LINE_END, Math.min(at + PARSED_BYTES, block.length - 1));
    yield block.toString(encoding, at, end).split('\n');
    at = end + 1;
  }
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

/** The size of chunks: smaller ones would switch threads more often, and larger ones exceed the processor's cache. */
const CHUNK_BYTES = 512 * 1024;

async function* unzipped(path: string, source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  const feeding = pipeline(Readable.from(source, { objectMode: false }), gunzip);
  // The iteration over `gunzip` below reports a failure.
  feeding.catch(() => undefined);
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (error) {
    if (isSvcError(error, 'not_found')) throw changed(path, MISSING);
    throw systemCodeOf(error)?.startsWith('Z_') === true ? changed(path, 'it cannot be decompressed') : error;
  } finally {
    gunzip.destroy();
  }
}

/** Parses the entry in a line. @throws SvcError `checksum_mismatch` for a line that is no entry */
export function readLine(path: string, line: string, encoding: LineEncoding = 'utf8'): Log {
  let log: Log;
  try {
    log = encoding === 'latin1' ? logFromBytes(Buffer.from(line, 'latin1')) : logFromLine(line);
  } catch {
    throw changed(path, 'it contains a line that is not JSON');
  }
  if (isRawSegment({ path }) || malformationOf(log) !== 'not an object') return log;
  throw changed(path, 'it contains a line that is not a log entry');
}
