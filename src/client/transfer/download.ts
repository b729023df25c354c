// Downloads a file from a pre-signed address, and proves that it is complete.

import { SvcError } from '../../base/errors.ts';
import { type LockHost, withLock } from '../../base/files/lock.ts';
import { inspectTarget, moveIntoPlace } from '../../base/files/target.ts';
import type { Clock } from '../../base/system.ts';
import { displayHost } from '../../schema/address.ts';
import { exchange, type HttpResponse } from '../http/exchange.ts';
import { TransportFailure } from '../http/transport-failure.ts';
import { FILE_LIMITS, type TimeLimits } from '../http/watchdog.ts';
import { isTransient, type RetryableFailure, retryAfterMs, type RetryOptions, withRetry } from '../http/retry.ts';
import type { Transport } from '../http/transport.ts';
import { PartFile } from './part-file.ts';
import { codingOf, continues, type Flaw, md5Of, type Proof, receive, type Received, versionOf } from './receive.ts';
import type { OnProgress } from './source.ts';
import { AddressRefused, ObjectMissing, redirectedByStore, refusedByStore, storeUnreachable } from './store-errors.ts';
import { readStoreResponse } from './store-response.ts';

/** The options of a download into a file. The operator chooses its name, never the service (R48). */
export interface DownloadOptions extends FetchOptions {
  /** The process, for the lock that prevents two downloads of one target; without it there is no lock. */
  readonly host?: Pick<LockHost, 'pid' | 'isAlive'> | undefined;
  readonly target: string;
  readonly overwrite: boolean;
  /** Checks a complete file for flaws that the response does not show. */
  readonly inspect?: ((file: string, proof: Proof) => Promise<readonly Flaw[]>) | undefined;
  /** Called for a file that is proven or accepted, before it gets its name. */
  readonly onAccepted?: ((file: string) => Promise<void>) | undefined;
  /** Called for an unproven file before it is downloaded again. */
  readonly onUnproven?: ((flaws: readonly Flaw[], nextMs: number) => void) | undefined;
  /** Whether to accept bytes that were the same each time although they break one rule. */
  readonly acceptUnproven?: boolean | undefined;
}

/** A file that was downloaded completely. */
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
  if (kind !== 'file') throw new SvcError('usage', `${options.target} is not a file`, { hint: 'Give a file name.' });
  const work = async (): Promise<DownloadResult> => {
    const received = await fetchFile(path, options);
    return { ...received, path: options.target };
  };
  if (!host) return work();
  // Taking the lock also proves that the directory is writable, before any request to the store.
  const holder: LockHost = { pid: host.pid, isAlive: (pid) => host.isAlive(pid), clock, signal };
  return withLock(`${path}.svc-part.lock`, holder, work, { waitMs: 0, what: options.target });
}

async function fetchFile(target: string, options: DownloadOptions): Promise<Received> {
  const part = PartFile.open(target);
  try {
    const received = await fetchProven(part, target, options);
    await options.onAccepted?.(part.path);
    moveIntoPlace(part.path, target, options.overwrite);
    part.forget();
    return received;
  } catch (error) {
    throw part.abandon() ? withKept(error, part) : error;
  }
}

/** Downloads until the file has no flaw, or the attempts are used up. */
async function fetchProven(part: PartFile, target: string, options: DownloadOptions): Promise<Received> {
  const { clock, signal, inspect, onUnproven, acceptUnproven = false } = options;
  const tries: Received[] = [];
  for (const pauseMs of [...PAUSES_MS, 0]) {
    const arrived = await fetchInto(part, options);
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
  const kept = same && keep(part, target, same);
  part.discard();
  throw new UnprovenDownload(
    tries.length,
    tries.flatMap(({ flaws }) => flaws),
    kept,
  );
}

/** Decompresses a file that is stored compressed. What cannot be decompressed is a flaw. */
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

/** The content codings that are decompressed. */
const DECODABLE: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate', 'br']);

/** Returns the last of several downloads, if all had the same bytes and broke the same single rule. */
function sameEachTime(tries: readonly Received[]): Received | undefined {
  const rules = new Set(tries.flatMap(({ flaws }) => flaws.map(({ rule }) => rule)));
  const contents = new Set(tries.map(({ sha256 }) => sha256));
  return rules.size === 1 && contents.size === 1 ? tries.at(-1) : undefined;
}

function keep(part: PartFile, target: string, { bytes, sha256 }: Received): Unproven {
  const file = `${target}.unproven`;
  part.moveTo(file);
  return { file, bytes, sha256 };
}

function withKept(error: unknown, { length, path }: PartFile): unknown {
  const isSpecial = [AddressRefused, ObjectMissing, UnprovenDownload].some((kind) => error instanceof kind);
  if (!(error instanceof SvcError) || isSpecial) return error;
  const { hint } = error;
  return error.with({
    hint: `${hint === undefined ? '' : `${hint} `}The next run resumes after ${length} bytes, kept in ${path}.`,
    facts: { kept: length },
  });
}

/** Bytes that were the same each time and break one rule, kept for the operator to judge. */
export interface Unproven {
  readonly file: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** The error for a file that was downloaded several times and is not proven to be complete. It is not put in place. */
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

/** The options of a download. */
export interface FetchOptions extends RetryOptions {
  readonly clock: Clock;
  readonly transport: Transport;
  /** Returns the address; called before each attempt, because addresses expire. */
  readonly address: () => Promise<URL>;
  readonly onProgress?: OnProgress | undefined;
  readonly limits?: TimeLimits | undefined;
}

const LASTING_PROGRESS = 1024 * 1024;

/**
 * Downloads an object into a partial file: resumes after a cut when that is provably the same object, else starts again.
 * @throws SvcError, or the signal's reason; the file then contains what arrived
 */
async function fetchInto(part: PartFile, options: FetchOptions): Promise<Received> {
  let best = 0;
  let wasExpired = false;
  return withRetry(async () => {
    const outcome = await attempt(part, options);
    if ('proof' in outcome) return { value: outcome };
    // A refusal may mean that the address has expired, so one more attempt has a fresh one.
    const isExpired = outcome.error instanceof AddressRefused;
    if (isExpired && wasExpired) throw outcome.error;
    wasExpired = isExpired;
    // Progress on a bad connection resets the count of failures.
    const advanced = part.length >= best + LASTING_PROGRESS;
    best = Math.max(best, part.length);
    return { ...outcome, advanced };
  }, options);
}

async function attempt(part: PartFile, options: FetchOptions): Promise<Received | RetryableFailure> {
  const url = await options.address();
  const isContinued = part.version !== undefined && part.length > 0;
  if (isContinued) await part.resume();
  try {
    const response = await exchange(options.transport, {
      method: 'GET',
      url,
      headers: headersFor(part),
      limits: options.limits ?? FILE_LIMITS,
      signal: options.signal,
    });
    try {
      return (
        (await accept(part, url, response, options.clock)) ?? (await receive(part, url, response, options.onProgress))
      );
    } finally {
      response.discard();
    }
  } catch (error) {
    if (!(error instanceof TransportFailure)) throw error;
    const unreachable = storeUnreachable(url, 'download', error);
    if (!isTransient({ failure: error })) throw unreachable;
    return { error: unreachable };
  }
}

function headersFor({ version, length }: PartFile): Record<string, string> {
  const plain = { 'accept-encoding': 'identity' };
  return version && length > 0 ? { ...plain, range: `bytes=${length}-`, 'if-match': version.etag } : plain;
}

/** Prepares the file for the body of a good response, or returns a failure that may be retried. */
async function accept(part: PartFile, url: URL, response: HttpResponse, clock: Clock) {
  const { status } = response;
  if (status === 200) {
    const coding = codingOf(response);
    if (coding !== undefined && !DECODABLE.has(coding)) throw undecodable(url, coding);
    // A compressed file is not resumed: a store may compress it otherwise the next time.
    part.begin(coding === undefined ? versionOf(response) : undefined, md5Of(response) !== undefined);
    return undefined;
  }
  const isContinued = part.version !== undefined && part.length > 0;
  if (isContinued && (status === 206 || status === 412 || status === 416)) {
    if (status === 206 && part.version && continues(response, part.version, part.length)) return undefined;
    part.begin(undefined, false);
    return { error: anotherObject(url) };
  }
  if (status >= 300 && status < 400) throw redirectedByStore(url, status, response.header('location'));
  const storeResponse = await readStoreResponse(response);
  const refused = refusedByStore({ ...storeResponse, status, url, transfer: 'download' });
  if (refused instanceof AddressRefused || isTransient({ status }))
    return { error: refused, requestedMs: retryAfterMs(response.header('retry-after'), clock.now()) };
  throw refused;
}

function anotherObject(url: URL): SvcError {
  return new SvcError('checksum_mismatch', `the store at ${displayHost(url)} does not continue the same object`, {
    hint: 'Run the command again: it starts from the beginning.',
    retryable: true,
  });
}

function undecodable(url: URL, coding: string): SvcError {
  const name = /^[\w, -]{1,40}$/.test(coding) ? ` (${coding})` : '';
  return new SvcError(
    'checksum_mismatch',
    `the store at ${displayHost(url)} sent the file compressed in a way that svc does not know${name}`,
    { hint: 'Something between you and the store may change responses: check your proxy settings.' },
  );
}
