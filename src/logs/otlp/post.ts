import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type ErrorCode, SvcError } from '../../errors.ts';
import { tracedExchange, type TraceOptions } from '../../http/exchange.ts';
import { readProblem } from '../../http/response.ts';
import type { ServiceClock } from '../../http/request.ts';
import { mayRetry, retryAfterMs, type TimeLimits } from '../../http/retry.ts';
import { TransportFailure } from '../../http/failure.ts';
import type { Transport } from '../../http/transport.ts';
import { displayHost } from '../../schema/address.ts';
import { VERSION } from '../../version.ts';
import type { OtlpSettings } from './settings.ts';
import statuses from './errors.json' with { type: 'json' };

export interface PostOptions extends Pick<OtlpSettings, 'headers' | 'gzip'> {
  readonly transport: Transport;
  /** The collector's time, learned from its responses. */
  readonly collectorClock: ServiceClock;
  readonly limits?: TimeLimits | undefined;
  readonly signal: AbortSignal;
}

export interface CollectorResponse {
  readonly status: number;
  readonly text: string;
  readonly contentType: string | undefined;
  /** Host or address that it redirects to. */
  readonly location: string | undefined;
  /** Milliseconds that it asks to wait. */
  readonly askedMs: number | undefined;
}

export type Posted = CollectorResponse | { readonly failure: TransportFailure };

const COLLECTOR_LIMITS: TimeLimits = { connect: 10_000, headers: 30_000, idle: 10_000, body: 20_000 };
const MAX_BODY = 64 * 1024;

const compressed = promisify(gzip);

/** Posts once. Rejects only with the signal's reason, or for a proxy that cannot be used. */
export async function postOnce(url: URL, text: string, options: PostOptions, tracing: TraceOptions): Promise<Posted> {
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
    const response = await tracedExchange(transport, sent, tracing);
    collectorClock.learn(response.header('date'));
    const { bytes } = await response.readPartial(MAX_BODY);
    return {
      status: response.status,
      text: bytes.toString('utf8'),
      contentType: response.header('content-type'),
      location: response.header('location'),
      askedMs: retryAfterMs(response.header('retry-after'), collectorClock.now()),
    };
  } catch (error) {
    if (error instanceof TransportFailure) return { failure: error };
    throw error;
  }
}

/** The collector asks for a retry, however long it takes. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Whether the collector is temporarily unavailable. */
export function isOutage(posted: Posted): boolean {
  return 'failure' in posted ? mayRetry(posted, 'always') : RETRYABLE.has(posted.status);
}

/** Why a post failed, in a few words. */
export function reasonOf(posted: Posted): string {
  return 'failure' in posted ? posted.failure.message : `it responded with ${posted.status}`;
}

/** The error for a post that is not retried. */
export function collectorError(url: URL, posted: Posted): SvcError {
  const collector = `the collector at ${displayHost(url)}`;
  if ('failure' in posted)
    return new SvcError('network', `no response from ${collector}: ${posted.failure.message}`, {
      hint:
        posted.failure.kind === 'tls'
          ? 'If your network inspects TLS, name its authority in NODE_EXTRA_CA_CERTS.'
          : 'Check the address of the collector and your proxy settings, then run it again: it resumes from its checkpoint.',
      retryable: isOutage(posted),
    });
  const { status, location = '' } = posted;
  if (status < 400) {
    const target = URL.canParse(location) ? displayHost(new URL(location)) : 'another address';
    const redirects = `redirects to ${target}, and redirects are not followed`;
    const words = status < 300 ? 'responds with a web page' : redirects;
    return new SvcError('bad_response', `${collector} ${words} (${status})`, { status, hint: ADDRESS });
  }
  const { code, words, hint } = REFUSALS.get(String(status)) ?? (status < 500 ? REJECTED : FAILED);
  const { summary } = readProblem(posted.text, posted.contentType);
  const problem = summary === undefined ? '' : `: ${summary}`;
  return new SvcError(code, `${collector} ${words} (${status})${problem}`, { status, hint });
}

interface Refusal {
  readonly code: ErrorCode;
  readonly words: string;
  readonly hint: string;
}

/** By status. */
const REFUSALS = new Map(Object.entries(statuses).map(([status, known]) => [status, known as Refusal]));
const ADDRESS = statuses[404].hint;
const RESUMES = 'run again, the tail resumes from its checkpoint.';
const REJECTED: Refusal = {
  code: 'rejected',
  words: 'rejected the entries',
  hint: `See what the collector requires; ${RESUMES}`,
};
const FAILED: Refusal = { code: 'server', words: 'failed', hint: `See the log of the collector; ${RESUMES}` };
