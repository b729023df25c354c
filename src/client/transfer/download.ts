// Downloads a file from a pre-signed address, and proves that the file is complete.

import { SvcError } from '../../base/errors.ts';
import { type LockHost, withLock } from '../../base/files/lock.ts';
import { inspectTarget, moveIntoPlace } from '../../base/files/target.ts';
import { type FetchOptions, fetchObject } from './fetch-object.ts';
import { PartFile } from './part-file.ts';
import type { Flaw, Proof, Received } from './receive.ts';
import { AddressRefused, ObjectMissing } from './store-errors.ts';

/** The options of a download into a file. The operator chooses its name, never the service (R48). */
export interface DownloadOptions extends FetchOptions {
  /** The process, for a lock that prevents two downloads of one target. Without a process, there is no lock. */
  readonly host?: Pick<LockHost, 'pid' | 'isAlive'> | undefined;
  readonly target: string;
  readonly overwrite: boolean;
  /** Returns flaws of a complete file that the response does not show. */
  readonly inspect?: ((file: string, proof: Proof) => Promise<readonly Flaw[]>) | undefined;
  /** Called with a proven or accepted file before the file gets its name. */
  readonly onAccepted?: ((file: string) => Promise<void>) | undefined;
  /** Called with the flaws of an unproven file before the next download. */
  readonly onUnproven?: ((flaws: readonly Flaw[], nextMs: number) => void) | undefined;
  /** Whether to accept a file that was the same in each download, and has the same single flaw each time. */
  readonly acceptUnproven?: boolean | undefined;
}

export interface DownloadResult extends Received {
  readonly path: string;
}

/** The pauses between the downloads of an unproven file. */
const PAUSES_MS = [2_000, 6_000];

/**
 * Downloads an object into a file, completely or not at all (R44). Writes a partial file beside the target, which is flushed and
 * renamed once it is proven (R59). Resumes the download of an earlier run if the object is provably the same.
 * @throws UnprovenDownload; SvcError `usage` if the target exists or is no file, `config` if another process downloads it, `local`
 *   for the disk, and the errors of the store. `facts.kept` is the number of bytes that the next run resumes after.
 */
export async function downloadFile(options: DownloadOptions): Promise<DownloadResult> {
  const { host, overwrite, clock, signal = new AbortController().signal } = options;
  const { kind, path } = await inspectTarget(options.target, overwrite);
  if (kind !== 'file') throw new SvcError('usage', `${options.target} is not a file`, { hint: 'Give a file name.' });
  const work = async (): Promise<DownloadResult> => {
    const received = await fetchFile(path, options);
    return { ...received, path: options.target };
  };
  if (!host) return work();
  // Taking the lock also proves that the directory is writable, before any request to the store.
  const lockHost: LockHost = { pid: host.pid, isAlive: (pid) => host.isAlive(pid), clock, signal };
  return withLock(`${path}.svc-part.lock`, lockHost, work, { waitMs: 0, what: options.target });
}

async function fetchFile(target: string, options: DownloadOptions): Promise<Received> {
  const part = PartFile.open(target);
  let isAccepting = false;
  try {
    const received = await fetchProven(part, target, options);
    isAccepting = true;
    await options.onAccepted?.(part.path);
    isAccepting = false;
    moveIntoPlace(part.path, target, options.overwrite);
    part.removeNote();
    return received;
  } catch (error) {
    const isKept = part.keepOrRemove();
    // The caller's own error is not about the transfer, which is complete.
    throw isKept && !isAccepting ? withKept(error, part) : error;
  }
}

/** Downloads an object up to three times, until the file has no flaw. @throws UnprovenDownload */
async function fetchProven(part: PartFile, target: string, options: DownloadOptions): Promise<Received> {
  const { clock, signal, inspect, onUnproven, acceptUnproven = false } = options;
  const tries: Received[] = [];
  for (const pauseMs of [...PAUSES_MS, 0]) {
    const arrived = await fetchObject(part, options);
    await part.seal();
    const received = await decoded(part, arrived);
    const flaws = [...received.flaws, ...((await inspect?.(part.path, received.proof)) ?? [])];
    if (flaws.length === 0) return received;
    tries.push({ ...received, flaws });
    if (pauseMs === 0) break;
    onUnproven?.(flaws, pauseMs);
    // A flawed file cannot be the beginning of a complete one.
    part.discard();
    await clock.sleep(pauseMs, signal);
  }
  const same = sameEachTime(tries);
  if (same && acceptUnproven) return same;
  const kept = same && keepUnproven(part, target, same);
  part.discard();
  throw new UnprovenDownload(
    tries.length,
    tries.flatMap(({ flaws }) => flaws),
    kept,
  );
}

/** Decompresses a file that the store sent compressed. Adds a flaw if that fails. */
async function decoded(part: PartFile, received: Received): Promise<Received> {
  const { coding, flaws } = received;
  if (coding === undefined) return received;
  const { decodeFile, Undecodable } = await import('../../base/files/decode-file.ts');
  try {
    return { ...(await decodeFile(part.path, coding)), proof: 'gzip', flaws };
  } catch (error) {
    if (!(error instanceof Undecodable)) throw error;
    return { ...received, flaws: [...flaws, { rule: 'checksum', problem: `is compressed and ${error.message}` }] };
  }
}

/** Returns the last of several downloads if all had the same bytes and the same single flaw. */
function sameEachTime(tries: readonly Received[]): Received | undefined {
  const rules = new Set(tries.flatMap(({ flaws }) => flaws.map(({ rule }) => rule)));
  const contents = new Set(tries.map(({ sha256 }) => sha256));
  return rules.size === 1 && contents.size === 1 ? tries.at(-1) : undefined;
}

function keepUnproven(part: PartFile, target: string, { bytes, sha256 }: Received): Unproven {
  const file = `${target}.unproven`;
  part.moveTo(file);
  return { file, bytes, sha256 };
}

/** Adds to an error that the next run resumes the download. */
function withKept(error: unknown, { length, path }: PartFile): unknown {
  const isSpecial = [AddressRefused, ObjectMissing, UnprovenDownload].some((special) => error instanceof special);
  if (!(error instanceof SvcError) || isSpecial) return error;
  const { hint } = error;
  return error.with({
    hint: `${hint === undefined ? '' : `${hint} `}The next run resumes after ${length} bytes, kept in ${path}.`,
    facts: { kept: length },
  });
}

/** A file that was the same in each download, and is kept for the operator to judge. `sha256` is hexadecimal. */
export interface Unproven {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The error for a file that has flaws after several downloads. */
export class UnprovenDownload extends SvcError {
  readonly kept: Unproven | undefined;

  constructor(tries: number, flaws: readonly Flaw[], kept: Unproven | undefined) {
    const problems = [...new Set(flaws.map(({ problem }) => `it ${problem}`))].join(', ');
    super('checksum_mismatch', `the file was downloaded ${tries} times and is not proven whole: ${problems}`, {
      hint: kept
        ? `The bytes were the same each time and are kept in ${kept.file}. Accept them if they are right.`
        : 'Run the command again later; if it stays so, contact support with the job id.',
      retryable: true,
      facts: { rules: [...new Set(flaws.map(({ rule }) => rule))], kept: kept?.file },
    });
    this.kept = kept;
  }
}
