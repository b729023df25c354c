import { shownHost } from '../address.ts';
import { SvcError } from '../errors.ts';
import { type Answer, exchange } from '../http/exchange.ts';
import { FILE_LIMITS, type TimeLimits } from '../http/limits.ts';
import { MAX_ATTEMPTS, mayRetry } from '../http/retry.ts';
import { TransportFailure } from '../http/transport-failure.ts';
import type { Transport } from '../http/transport.ts';
import { readErrorOf } from './error-text.ts';
import { AddressExpired, redirectedByStore, refusedByStore, storeUnreachable } from './failures.ts';
import { type Patience, pause, type Setback } from './pause.ts';
import type { OnProgress } from './progress.ts';
import { receive, type Received } from './receive.ts';
import type { Sink } from './sink.ts';
import { continues, isEncoded, versionOf } from './version.ts';

/** What a download needs. */
export interface FetchOptions extends Patience {
  readonly transport: Transport;
  /** Gives the address; asked before each attempt, because it expires. */
  readonly address: () => Promise<URL>;
  readonly onProgress?: OnProgress | undefined;
  readonly limits?: TimeLimits | undefined;
}

const LASTING_PROGRESS = 1024 * 1024;

/**
 * Brings an object into a sink: goes on after a cut when that is provably the same object, else starts again.
 * @throws SvcError, or the signal's reason; the sink then holds what came
 */
export async function fetchInto(sink: Sink, options: FetchOptions): Promise<Received> {
  let failed = 0;
  let best = 0;
  let wasExpired = false;
  for (;;) {
    const outcome = await attempt(sink, options);
    if ('proof' in outcome) return outcome;
    // A bad line that still brings the file along is not a dead one.
    if (sink.length >= best + LASTING_PROGRESS) failed = 0;
    best = Math.max(best, sink.length);
    failed += 1;
    // Once more with a fresh address; a second refusal in a row is not about its age.
    const isExpired = outcome.error instanceof AddressExpired;
    if ((isExpired && wasExpired) || failed >= MAX_ATTEMPTS) throw outcome.error;
    wasExpired = isExpired;
    await pause(options, failed - 1, outcome);
  }
}

async function attempt(sink: Sink, options: FetchOptions): Promise<Received | Setback> {
  const url = await options.address();
  const isContinued = sink.version !== undefined && sink.length > 0;
  if (isContinued) await sink.resume();
  try {
    const answer = await exchange(options.transport, {
      method: 'GET',
      url,
      headers: headersFor(sink),
      limits: options.limits ?? FILE_LIMITS,
      signal: options.signal,
    });
    try {
      return (await accept(sink, url, answer)) ?? (await receive(sink, url, answer, options.onProgress));
    } finally {
      answer.discard();
    }
  } catch (error) {
    if (!(error instanceof TransportFailure)) throw error;
    const unreachable = storeUnreachable(url, 'download', error);
    if (!mayRetry({ failure: error }, 'always')) throw unreachable;
    return { error: unreachable };
  }
}

function headersFor({ version, length }: Sink): Record<string, string> {
  const plain = { 'accept-encoding': 'identity' };
  return version && length > 0 ? { ...plain, range: `bytes=${length}-`, 'if-match': version.etag } : plain;
}

/** Makes the sink ready for a good answer's body; a setback for an answer that may be better next time. */
async function accept(sink: Sink, url: URL, answer: Answer): Promise<Setback | undefined> {
  const { status } = answer;
  if (status === 200) {
    if (isEncoded(answer)) throw encoded(url);
    await sink.begin(versionOf(answer));
    return undefined;
  }
  const isContinued = sink.version !== undefined && sink.length > 0;
  if (isContinued && (status === 206 || status === 412 || status === 416)) {
    if (status === 206 && sink.version && continues(answer, sink.version, sink.length)) return undefined;
    await sink.begin(undefined);
    return { error: anotherObject(url) };
  }
  if (status >= 300 && status < 400) {
    throw redirectedByStore(url, status, answer.header('location'));
  }
  const refused = refusedByStore({ url, doing: 'download', status, error: await readErrorOf(answer) });
  if (refused instanceof AddressExpired || mayRetry({ status }, 'always'))
    return { error: refused, retryAfter: answer.header('retry-after') };
  throw refused;
}

function anotherObject(url: URL): SvcError {
  return new SvcError('altered', `the store at ${shownHost(url)} does not continue the same object`, {
    hint: 'Run the command again: it starts from the beginning.',
    retryable: true,
  });
}

function encoded(url: URL): SvcError {
  return new SvcError(
    'altered',
    `the store at ${shownHost(url)} sent the file packed, which was not asked for`,
    {
      hint: 'Something between you and the store changes answers: check your proxy settings.',
    },
  );
}
