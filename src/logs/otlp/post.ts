import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type ErrorCode, SvcError } from '../../errors.ts';
import { tracedExchange, type TraceOptions } from '../../http/exchange.ts';
import { readProblem } from '../../http/response.ts';
import type { ServiceClock } from '../../http/request.ts';
import { mayRetry, retryAfterMs, type TimeLimits } from '../../http/retry.ts';
import { TransportFailure } from '../../http/failure.ts';
import type { Transport } from '../../http/transport.ts';
import { displayHost } from '../../security/address.ts';
import { VERSION } from '../../version.ts';

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
  telling: TraceOptions,
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
    const { bytes } = await answer.readPartial(MAX_BODY);
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

/** Answers after which the same request is sent again, for as long as it takes: the collector asks for it. */
const COME_AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Whether the collector is only away for a while. */
export function isOutage(posted: Posted): boolean {
  return 'failure' in posted ? mayRetry(posted, 'always') : COME_AGAIN.has(posted.status);
}

/** Why a post was not taken, in a few words. */
export function reasonOf(posted: Posted): string {
  return 'failure' in posted ? posted.failure.message : `it answered ${posted.status}`;
}

/** The error for a post that is not sent again. */
export function refusedByCollector(url: URL, posted: Posted): SvcError {
  const collector = `the collector at ${displayHost(url)}`;
  if ('failure' in posted)
    return new SvcError('network', `no answer from ${collector}: ${posted.failure.message}`, {
      hint:
        posted.failure.kind === 'tls'
          ? 'If your network inspects TLS, name its authority in NODE_EXTRA_CA_CERTS.'
          : 'Check --to and your proxy settings; run again, the tail goes on from its checkpoint.',
      retryable: isOutage(posted),
    });
  const { status } = posted;
  if (status < 400) return senseless(collector, posted);
  const { code, words, hint } = REFUSALS[status] ?? (status < 500 ? REJECTED : FAILED);
  const { summary } = readProblem(posted.text, posted.contentType);
  const said = summary === undefined ? '' : `: ${summary}`;
  return new SvcError(code, `${collector} ${words} (${status})${said}`, { status, hint });
}

function senseless(collector: string, { status, location }: CollectorAnswer): SvcError {
  const target = URL.canParse(location ?? '') ? displayHost(new URL(location ?? '')) : 'another place';
  const words =
    status < 300 ? 'answers with a web page' : `redirects to ${target}, and redirects are not followed`;
  return new SvcError('bad_response', `${collector} ${words} (${status})`, { status, hint: WRONG_PLACE });
}

interface Refusal {
  readonly code: ErrorCode;
  readonly words: string;
  readonly hint: string;
}

const WRONG_PLACE =
  'Check --to: it is the address of the OTLP/HTTP receiver, often port 4318, to which /v1/logs is added.';
const CREDENTIALS =
  "Set OTEL_EXPORTER_OTLP_HEADERS to the header that the collector asks for, as 'svc help environment' shows.";
const NOT_FOUND: Refusal = { code: 'not_found', words: 'takes no logs at this address', hint: WRONG_PLACE };
const REJECTED: Refusal = {
  code: 'rejected',
  words: 'rejected the entries',
  hint: 'See what the collector asks for; the tail goes on from its checkpoint when it is run again.',
};
const FAILED: Refusal = {
  code: 'server',
  words: 'failed',
  hint: 'See the log of the collector; the tail goes on from its checkpoint when it is run again.',
};
const REFUSALS: Readonly<Record<number, Refusal>> = {
  401: { code: 'unauthorized', words: 'did not accept the credentials', hint: CREDENTIALS },
  403: { code: 'forbidden', words: 'does not allow these credentials to send logs', hint: CREDENTIALS },
  404: NOT_FOUND,
  405: NOT_FOUND,
  413: {
    code: 'rejected',
    words: 'does not take a single entry of this size',
    hint: 'Allow larger requests in the settings of the collector.',
  },
  415: {
    code: 'rejected',
    words: 'does not take compressed JSON',
    hint: 'Set OTEL_EXPORTER_OTLP_COMPRESSION=none; if that does not help, enable JSON on the collector.',
  },
};
