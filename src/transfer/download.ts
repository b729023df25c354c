import { SvcError } from '../errors.ts';
import { type LockHost, withLock } from '../lock.ts';
import { AddressExpired, type Unproven, UnprovenDownload } from './failures.ts';
import { type FetchOptions, fetchInto } from './fetch-into.ts';
import { PartFile } from './part-file.ts';
import type { Flaw, Proof, Received } from './receive.ts';
import { inspectTarget, putInPlace } from './target.ts';

/** What a download into a file needs. The name is the operator's, never the service's (R48). */
export interface DownloadOptions extends FetchOptions {
  /** The process, for the lock that keeps two downloads of one target apart; without it none is taken. */
  readonly host?: Pick<LockHost, 'pid' | 'isAlive'> | undefined;
  readonly target: string;
  readonly overwrite: boolean;
  /** Finds what is wrong with a file that came to its end, beyond what its response shows. */
  readonly inspect?: ((file: string, proof: Proof) => Promise<readonly Flaw[]>) | undefined;
  /** Told of a file that is not proven, before it is downloaded again. */
  readonly onUnproven?: ((flaws: readonly Flaw[], nextMs: number) => void) | undefined;
  /** Takes bytes that came the same each time although one rule speaks against them. */
  readonly acceptUnproven?: boolean | undefined;
}

/** A file that came whole. */
export interface DownloadResult extends Received {
  readonly path: string;
}

/** Pauses between downloads of a file that is not proven: three downloads within 20 s, each with a fresh address. */
const PAUSES_MS = [2_000, 6_000];

/**
 * Downloads an object into a file, whole or not at all (R44): a partial file beside it, synced and renamed once it is
 * proven (R59). What an earlier run left is continued when it is provably the same object.
 * @throws SvcError `usage` (exists, or no file), `config` (another process is at it), `local` (disk),
 *   `UnprovenDownload`, and those of the transfer; when bytes were kept for the next run, `facts.kept` says how many
 */
export async function downloadFile(options: DownloadOptions): Promise<DownloadResult> {
  const { host, overwrite, clock, signal = new AbortController().signal } = options;
  const { kind, path } = await inspectTarget(options.target, overwrite);
  if (kind !== 'file')
    throw new SvcError('usage', `${options.target} is not a file`, { hint: 'Give a file name.' });
  const work = async (): Promise<DownloadResult> => {
    const received = await fetchFile(path, options);
    return { ...received, path: options.target };
  };
  if (!host) return work();
  // Taking the lock also shows that the directory can be written, before any request to the store.
  const holder: LockHost = { pid: host.pid, isAlive: (pid) => host.isAlive(pid), clock, signal };
  return withLock(`${path}.svc-part.lock`, holder, work, { waitMs: 0, what: options.target });
}

async function fetchFile(target: string, options: DownloadOptions): Promise<Received> {
  const part = await PartFile.open(target);
  try {
    const received = await fetchProven(part, target, options);
    await putInPlace(part.path, target, options.overwrite);
    await part.forget();
    return received;
  } catch (error) {
    throw (await part.abandon()) ? withKept(error, part) : error;
  }
}

/** Downloads until nothing speaks against the file, or it has failed often enough. */
async function fetchProven(part: PartFile, target: string, options: DownloadOptions): Promise<Received> {
  const { clock, signal, inspect, onUnproven, acceptUnproven = false } = options;
  const tries: Received[] = [];
  for (const pauseMs of [...PAUSES_MS, 0]) {
    const received = await fetchInto(part, options);
    await part.seal();
    const flaws = [...received.flaws, ...((await inspect?.(part.path, received.proof)) ?? [])];
    if (flaws.length === 0) return received;
    tries.push({ ...received, flaws });
    if (pauseMs === 0) break;
    onUnproven?.(flaws, pauseMs);
    // No beginning of a file that is whole.
    await part.discard();
    await clock.sleep(pauseMs, signal);
  }
  const same = sameEachTime(tries);
  if (same && acceptUnproven) return same;
  const kept = same && (await keep(part, target, same));
  await part.discard();
  throw new UnprovenDownload(
    tries.length,
    tries.flatMap(({ flaws }) => flaws),
    kept,
  );
}

/** The last of several downloads, if all gave the same bytes and one and the same rule alone speaks against them. */
function sameEachTime(tries: readonly Received[]): Received | undefined {
  const rules = new Set(tries.flatMap(({ flaws }) => flaws.map(({ rule }) => rule)));
  const contents = new Set(tries.map(({ sha256 }) => sha256));
  return rules.size === 1 && contents.size === 1 ? tries.at(-1) : undefined;
}

async function keep(part: PartFile, target: string, { bytes, sha256 }: Received): Promise<Unproven> {
  const file = `${target}.unproven`;
  await part.moveTo(file);
  return { file, bytes, sha256 };
}

function withKept(error: unknown, { length, path }: PartFile): unknown {
  if (!(error instanceof SvcError) || error instanceof AddressExpired || error instanceof UnprovenDownload)
    return error;
  const { code, message, hint, status, requestId, retryable, cause } = error;
  return new SvcError(code, message, {
    hint: `${hint === undefined ? '' : `${hint} `}The next run resumes after ${length} bytes, kept in ${path}.`,
    status,
    requestId,
    retryable,
    facts: { ...error.facts, kept: length },
    cause,
  });
}
