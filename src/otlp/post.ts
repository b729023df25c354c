import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { TimeLimits } from '../http/limits.ts';
import { retryAfterMs } from '../http/retry-after.ts';
import type { ServiceClock } from '../http/service-clock.ts';
import { type Telling, tracedExchange } from '../http/traced-exchange.ts';
import type { Transport } from '../http/transport.ts';
import { TransportFailure } from '../http/transport-failure.ts';
import { VERSION } from '../version.ts';

/** How to post. */
export interface PostOptions {
  readonly transport: Transport;
  /** The collector's time, which its answers tell. */
  readonly collectorClock: ServiceClock;
  readonly headers: Readonly<Record<string, string>>;
  readonly gzip: boolean;
  readonly limits?: TimeLimits | undefined;
  readonly signal: AbortSignal;
}

/** A collector's answer. */
export interface CollectorAnswer {
  readonly status: number;
  readonly text: string;
  readonly contentType: string | undefined;
  /** Host or address that it redirects to. */
  readonly location: string | undefined;
  /** Milliseconds that it asks to wait. */
  readonly askedMs: number | undefined;
}

/** How one post ended. */
export type Posted = CollectorAnswer | { readonly failure: TransportFailure };

const COLLECTOR_LIMITS: TimeLimits = { connect: 10_000, headers: 30_000, idle: 10_000, body: 20_000 };
const MAX_BODY = 64 * 1024;

const compressed = promisify(gzip);

/** Posts once. Rejects only with the signal's reason, or for a proxy that cannot be used. */
export async function postOnce(
  url: URL,
  text: string,
  options: PostOptions,
  telling: Telling,
): Promise<Posted> {
  const body = options.gzip ? await compressed(text) : text;
  const headers = {
    'user-agent': `svc/${VERSION}`,
    ...options.headers,
    'content-type': 'application/json',
    ...(options.gzip && { 'content-encoding': 'gzip' }),
  };
  const { transport, collectorClock, signal, limits = COLLECTOR_LIMITS } = options;
  try {
    const sent = { method: 'POST', url, headers, body, limits, signal };
    const answer = await tracedExchange(transport, sent, telling);
    collectorClock.learn(answer.header('date'));
    const { bytes } = await answer.readWhatComes(MAX_BODY);
    return {
      status: answer.status,
      text: bytes.toString('utf8'),
      contentType: answer.header('content-type'),
      location: answer.header('location'),
      askedMs: retryAfterMs(answer.header('retry-after'), collectorClock.now()),
    };
  } catch (error) {
    if (error instanceof TransportFailure) return { failure: error };
    throw error;
  }
}
