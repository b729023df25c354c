// Opens an archive for a command, and reads its segments with a progress line.

import fs from 'node:fs';
import path from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { argument, reading } from '../../cli/app/parameter.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { requireDirectory } from '../../cli/config/paths.ts';
import type { TransferProgress } from '../../cli/output/transfer-progress.ts';
import { S3_SECRETS } from '../../client/store/s3/settings.ts';
import type { Store } from '../../client/store/store.ts';
import type { Log } from '../../schema/log.ts';
import type { TimeRange } from '../entry.ts';
import type { CountOptions } from './line-scanner.ts';
import type { TimelessSegment } from './manifest.ts';
import type { Segment } from './records/record.ts';

export const archiveLocation = reading(argument('<dir>', 'the directory of the archive, or s3://bucket/prefix', text));

const MONTHS = /^([1-9]\d{0,2})(M|y)$/;

/** Parses a number of months for `--keep`: 13M or 2y. */
export function wholeMonths(typed: string): number {
  const [, count, unit] = MONTHS.exec(typed) ?? [];
  if (count === undefined)
    throw new SvcError('usage', 'must be whole months or years, such as 13M or 2y (an upper-case M: m is for minutes)');
  return Number(count) * (unit === 'y' ? 12 : 1);
}

/** The kinds of writers. Each has its own lock: reviews are signed while a follower has the lock of the archive. */
type WriterKind = 'archive' | 'review';

/** Opens an archive without reading it. From then on, the credentials of a bucket are redacted in all output. */
export async function openArchive(
  context: Context,
  location: string,
  { signal = context.signal, writer = 'archive' }: { readonly signal?: AbortSignal; readonly writer?: WriterKind } = {},
): Promise<Store> {
  const [{ openStore }, { ARCHIVE }] = await Promise.all([
    import('../../client/store/open-store.ts'),
    import('./records/record.ts'),
  ]);
  const { clock, system, notices, trace } = context;
  const { env, cwd, pid } = system;
  if (/^s3:/i.test(location)) prepareForBucket(context);
  const isAlive = (one: number): boolean => system.isAlive(one);
  const onWarning = (words: string): void => notices.warn(words);
  const bucketWork = (): string => path.join(requireDirectory(system, 'state'), 'archives');
  const host = { env, cwd, pid, isAlive, clock, signal, bucketWork, onWarning, trace };
  return openStore(host, location, writer === 'archive' ? ARCHIVE : { ...ARCHIVE, lock: writer });
}

function prepareForBucket(context: Context): void {
  if (context.globals.curl)
    throw new SvcError('usage', '--curl does not show requests to a bucket, and they come first', {
      hint: 'Leave --curl out.',
    });
  for (const name of S3_SECRETS) context.addSecret(context.system.env[name]?.trim() ?? '');
}

/**
 * Runs work that reads much of an archive, and shows its progress in bytes. The error of a changed file names the command
 * that lists all changed files.
 * @throws SvcError `entries_missing` if retention has dropped one of the files since the manifest was read
 */
export async function withByteProgress<T>(
  context: Context,
  { dir, label, store, segments }: SizedReading,
  work: (onBytes: (bytes: number) => void) => Promise<T>,
): Promise<T> {
  const total = segments.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  try {
    return await withProgress(context, label, (update) =>
      work((bytes) => {
        done += bytes;
        update(done, total);
      }),
    );
  } catch (error) {
    if (!isSvcError(error, 'checksum_mismatch') || error.next) throw error;
    const { isDropped } = await import('./manifest.ts');
    if (await isDropped(store, error.facts?.['path'])) throw droppedMeanwhile(dir);
    throw error.with({ next: ['logs', 'verify', dir] });
  }
}

interface SizedReading {
  /** The location of the archive as typed. */
  readonly dir: string;
  readonly label: string;
  readonly store: Store;
  readonly segments: readonly Pick<Segment, 'bytes'>[];
}

/** The segments that a command reads, and the label of its progress line. */
interface Reading extends SizedReading {
  readonly segments: readonly Segment[];
}

interface Counting extends Reading, CountOptions {
  /** Set if entries are filtered by more than the counted members. Entries without any of these values may be skipped. */
  readonly among?: readonly string[] | undefined;
}

/** Counts the entries of segments in groups. */
export async function countEntries(context: Context, counting: Counting): Promise<void> {
  const { dir, label, store, segments, among, ...options } = counting;
  const [{ LineCounter }, { READERS, readLines, readSegment }, { sideBySide }] = await Promise.all([
    import('./line-scanner.ts'),
    import('./read-segment.ts'),
    import('../../base/side-by-side.ts'),
  ]);
  const counter = new LineCounter(options);
  await withByteProgress(context, { dir, label, store, segments }, async (onBytes) => {
    const reading = { signal: context.signal, onBytes, among };
    const done = sideBySide(segments, READERS, async (segment) => {
      if (among) {
        for await (const logs of readSegment(store, segment, reading)) logs.forEach((log) => counter.addEntry(log));
      } else {
        for await (const block of readLines(store, segment, reading)) counter.add(block, segment.path);
      }
    });
    for await (const _ of done);
  });
  counter.flush();
}

const LARGE = 8_000_000;

/** Runs work that reports its progress, and shows the progress if there is much to read. */
export async function withProgress<T>(
  context: Context,
  label: string,
  work: (update: (done: number, total: number) => void) => Promise<T>,
): Promise<T> {
  let shown: TransferProgress | undefined;
  try {
    const result = await work((done, total) => {
      if (total >= LARGE) shown ??= context.progress.bytes(label, total);
      shown?.update(done);
    });
    shown?.done();
    shown = undefined;
    return result;
  } finally {
    shown?.fail();
  }
}

/** Returns the error for a file that retention dropped after the command had read the manifest. */
function droppedMeanwhile(archive: string): SvcError {
  return new SvcError('entries_missing', `${archive}: retention dropped months while they were read`, {
    hint: 'Run the command again: it reads what is left.',
    retryable: true,
  });
}

/** Returns the path behind all links; undefined for a bucket or a missing path. */
export function realPath(file: string): string | undefined {
  try {
    return fs.realpathSync(file);
  } catch {
    return undefined;
  }
}

/** Returns the segments without a readable time that were archived while a part of this time was read. */
export function timelessOf(all: readonly TimelessSegment[], { from, to }: TimeRange): Segment[] {
  return all.filter((one) => one.from < to && (one.to > from || one.from >= from)).map(({ segment }) => segment);
}

/** Reads entries without a readable time, which the index does not count. */
export async function readTimeless(
  context: Context,
  { dir, label, store, segments }: Reading,
  onLog: (log: Log, segment: Segment) => void,
): Promise<void> {
  if (segments.length === 0) return;
  const { readSegment } = await import('./read-segment.ts');
  await withByteProgress(context, { dir, label, store, segments }, async (onBytes) => {
    for (const segment of segments)
      for await (const logs of readSegment(store, segment, { signal: context.signal, onBytes }))
        for (const log of logs) onLog(log, segment);
  });
}
