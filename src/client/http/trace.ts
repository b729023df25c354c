// Reports each request, with its response or failure, to the trace of a client.

import type { Clock } from '../../base/system.ts';
import { exchange, type ExchangeRequest, type HttpResponse } from './exchange.ts';
import { requestIdOf } from './foreign-text.ts';
import { TransportFailure } from './transport-failure.ts';
import type { Transport } from './transport.ts';

type RequestFacts = { readonly method: string; readonly url: URL };
type ResponseFacts = { readonly status: number; readonly ms: number; readonly requestId: string | undefined };

/** An event of a request under way. No event contains a key; addresses may contain a query. */
export type TraceEvent =
  | ({ readonly kind: 'request'; readonly attempt: number } & RequestFacts)
  | ({ readonly kind: 'response' } & RequestFacts & ResponseFacts)
  | ({ readonly kind: 'failure'; readonly reason: string; readonly ms: number } & RequestFacts)
  | {
      readonly kind: 'wait';
      readonly why: 'retry' | 'rate limit' | 'pacing' | 'store';
      readonly ms: number;
      /** For a retry without a response: the address and the reason. */
      readonly noResponse?: string | undefined;
    }
  /** An optional read failed. The command goes on without its result. */
  | { readonly kind: 'done without'; readonly reason: string };

export type Trace = (event: TraceEvent) => void;

/** `attempt` is the number of the attempt, counted from 0. */
export interface TraceOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly trace: Trace | undefined;
  readonly attempt: number;
}

/** Makes an exchange with `send`, and traces it. */
export async function traced<R extends Pick<HttpResponse, 'status' | 'header'>>(
  { method, url }: Pick<ExchangeRequest, 'method' | 'url'>,
  { clock, trace, attempt }: TraceOptions,
  send: () => Promise<R>,
): Promise<R> {
  const started = clock.now();
  trace?.({ kind: 'request', method, url, attempt });
  try {
    const response = await send();
    const ms = clock.now() - started;
    const { status, header } = response;
    trace?.({ kind: 'response', method, url, status, ms, requestId: requestIdOf(header) });
    return response;
  } catch (error) {
    if (error instanceof TransportFailure)
      trace?.({ kind: 'failure', method, url, reason: error.message, ms: clock.now() - started });
    throw error;
  }
}

/** Sends and traces one request to a server other than the service. */
export function tracedExchange(
  transport: Transport,
  request: ExchangeRequest,
  options: TraceOptions,
): Promise<HttpResponse> {
  return traced(request, options, () => exchange(transport, request));
}
