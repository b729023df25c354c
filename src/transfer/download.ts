import type { Writable } from 'node:stream';
import { writeFailure } from '../write-failure.ts';
import { SvcError } from '../errors.ts';
import { type LockHost, withLock } from '../lock.ts';
import { systemCodeOf } from '../system-code.ts';
import { AddressExpired } from './failures.ts';
import { type FetchOptions, type Fetched, fetchInto } from './fetch-into.ts';
import { openDevice, openPipe } from './open-output.ts';
import { PartFile } from './part-file.ts';
import { StreamSink } from './stream-sink.ts';
import { inspectTarget, putInPlace, type Target } from './target.ts';

/** What a download into a file needs. The name is the operator's, never the service's (R48). */
export interface DownloadOptions extends FetchOptions {
  /** The process, for the lock that keeps two downloads of one target apart; without it none is taken. */
  readonly host?: Pick<LockHost, 'pid' | 'isAlive'> | undefined;
  readonly target: string;
  readonly overwrite: boolean;
}

/** A file that came whole. */
export interface DownloadResult extends Fetched {
  readonly path: string;
}

/**
 * Brings an object into a file, whole or not at all (R44): a partial file beside it, synced and renamed at the end.
 * What an earlier run left is continued when it is provably the same object. A pipe or device gets the bytes directly.
 * @throws SvcError `usage` (exists), `config` (another process is at it), `local` (disk), and those of the transfer;
 *   when bytes were kept for the next run, `facts.kept` says how many
 */
export async function downloadFile(options: DownloadOptions): Promise<DownloadResult> {
  const { host, overwrite, clock, signal = new AbortController().signal } = options;
  const target = await inspectTarget(options.target, overwrite);
  if (target.kind !== 'file') return { ...(await fetchThrough(target, options)), path: options.target };
  const work = async (): Promise<DownloadResult> => {
    const fetched = await fetchFile(target.path, overwrite, options);
    return { ...fetched, path: options.target };
  };
  if (!host) return work();
  // Taking the lock also shows that the directory can be written, before anything is asked of the store.
  const holder: LockHost = { pid: host.pid, isAlive: (pid) => host.isAlive(pid), clock, signal };
  const how = { waitMs: 0, what: options.target };
  return withLock(`${target.path}.svc-part.lock`, holder, work, how);
}

/**
 * Passes an object on to a stream as it comes, and leaves the stream open. A reader that goes away shows as the
 * system's own EPIPE error.
 * @throws SvcError `incomplete` when the transfer broke off and cannot be continued, `output` for a failed write
 */
export async function downloadTo(output: Writable, options: FetchOptions): Promise<Fetched> {
  // Write callbacks report failures; the event must only not end the process.
  output.on('error', ignore);
  try {
    return await fetchInto(new StreamSink(output), options);
  } finally {
    output.off('error', ignore);
  }
}

function ignore(): void {}

async function fetchThrough(target: Target, options: FetchOptions): Promise<Fetched> {
  const { kind, path } = target;
  const output =
    kind === 'pipe' ? await openPipe(path, options.clock, options.signal) : await openDevice(path);
  output.on('error', ignore);
  try {
    const fetched = await downloadTo(output, options);
    await new Promise<void>((resolve, reject) => {
      output.once('error', reject).end(resolve);
    });
    return fetched;
  } catch (error) {
    throw systemCodeOf(error) === undefined ? error : writeFailure(path, error);
  } finally {
    output.destroy();
  }
}

async function fetchFile(target: string, overwrite: boolean, options: FetchOptions): Promise<Fetched> {
  const part = await PartFile.open(target);
  try {
    const fetched = await fetchInto(part, options);
    await part.seal();
    await putInPlace(part.path, target, overwrite);
    await part.forget();
    return fetched;
  } catch (error) {
    throw (await part.abandon()) ? withKept(error, part) : error;
  }
}

function withKept(error: unknown, { length, path }: PartFile): unknown {
  if (!(error instanceof SvcError) || error instanceof AddressExpired) return error;
  const { code, message, hint, status, requestId, retryable, cause } = error;
  return new SvcError(code, message, {
    hint: `${hint === undefined ? '' : `${hint} `}The next run goes on after ${length} bytes, kept in ${path}.`,
    status,
    requestId,
    retryable,
    facts: { ...error.facts, kept: length },
    cause,
  });
}
