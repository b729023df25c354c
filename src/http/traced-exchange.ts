import type { Clock } from '../clock.ts';
import { type Answer, exchange, type ExchangeRequest } from './exchange.ts';
import type { Trace } from './trace.ts';
import type { Transport } from './transport.ts';
import { TransportFailure } from './transport-failure.ts';

/** Who hears of an exchange, and which attempt it is, from 0 on. */
export interface Telling {
  readonly clock: Pick<Clock, 'now'>;
  readonly trace: Trace | undefined;
  readonly attempt: number;
}

/** Sends one request like `exchange` does, to another place than the service, and tells of it. */
export async function tracedExchange(
  transport: Transport,
  request: ExchangeRequest,
  { clock, trace, attempt }: Telling,
): Promise<Answer> {
  const { method, url } = request;
  const started = clock.now();
  trace?.({ kind: 'request', method, url, attempt });
  try {
    const answer = await exchange(transport, request);
    const id = answer.header('x-amz-request-id') ?? answer.header('x-request-id') ?? '';
    const requestId = /^[\w.:|/+=-]{1,128}$/.test(id) ? id : undefined;
    const ms = clock.now() - started;
    trace?.({ kind: 'answer', method, url, status: answer.status, ms, requestId });
    return answer;
  } catch (error) {
    if (error instanceof TransportFailure)
      trace?.({ kind: 'failure', method, url, reason: error.message, ms: clock.now() - started });
    throw error;
  }
}
