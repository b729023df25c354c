import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { logFromLine, oddityOf } from '../api/log-entry.ts';
import { SvcError } from '../errors.ts';
import type { Log } from '../schema/log.ts';
import { systemCodeOf } from '../system-code.ts';
import { isRawSegment, type Segment } from './record.ts';
import type { ArchiveStore } from './store.ts';

/** How a segment is read. */
export interface ReadSegmentOptions {
  /** Told of each piece of the compressed file, in bytes. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The longest line that is taken for an entry, in characters: a file without line ends must not fill the memory. */
const LONGEST_LINE = 16 * 1024 * 1024;

/**
 * The entries of a segment in the order of the file, some at a time and in flat memory. Only at the end is it known
 * whether the file is the one that was written: read to the end.
 * @throws SvcError `altered` when it is not, `not_found` when it is gone
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
    if (rest.length > LONGEST_LINE) throw altered(path, 'it holds a line too long to be an entry');
    entries += lines.length;
    if (lines.length > 0) yield lines.map((line) => readLine(path, line));
  }
  if (seen.bytes !== segment.bytes)
    throw altered(path, `it has ${seen.bytes} bytes of ${segment.bytes} that were written`);
  if (seen.hash.digest('hex') !== segment.sha256)
    throw altered(path, 'its SHA-256 is not the one in the manifest');
  if (rest !== '') throw altered(path, 'its last line has no end');
  if (entries !== segment.entries)
    throw altered(path, `it holds ${entries} entries, and the manifest says ${segment.entries}`);
}

function altered(path: string, problem: string): SvcError {
  return new SvcError('altered', `${path} was changed: ${problem}`, {
    hint: "'svc logs verify' tells all that is wrong with the archive; bring the file back from a copy.",
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
    throw systemCodeOf(error)?.startsWith('Z_') === true ? altered(path, 'it cannot be decompressed') : error;
  } finally {
    gunzip.destroy();
  }
}

function readLine(path: string, line: string): Log {
  let log: Log;
  try {
    log = logFromLine(line);
  } catch {
    throw altered(path, 'it holds a line that is no JSON');
  }
  if (isRawSegment({ path }) || oddityOf(log) !== 'not an object') return log;
  throw altered(path, 'it holds a line that is no log entry');
}
