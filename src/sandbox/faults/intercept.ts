import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as later } from 'node:timers';
import { isSigned } from '../buckets/signature.ts';
import type { Interceptor } from '../options.ts';
import { problem } from '../problem.ts';
import { captureAnswer } from './capture-answer.ts';
import { type Effect, type Fault, FaultChooser } from './fault.ts';
import { sendDamaged } from './send-damaged.ts';

/** Makes requests go wrong as the faults say. The same seed and the same requests lead to the same faults. */
export function faultInterceptor(faults: readonly Fault[], seed = 1): Interceptor {
  const chooser = new FaultChooser(faults, seed);
  return (incoming, outgoing, proceed) => {
    const effect = chooser.choose(incoming.method ?? '', incoming.url ?? '');
    if (effect === undefined) return proceed();
    const strike = (): void => {
      if (!outgoing.destroyed) apply(effect, { incoming, outgoing, proceed });
    };
    if (effect.latency === undefined) strike();
    else later(strike, effect.latency).unref();
  };
}

interface Struck {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly proceed: () => void;
}

function apply(effect: Effect, struck: Struck): void {
  if (!effect.applied || !preventsRequest(effect)) return strikeNow(effect, struck);
  captureAnswer(struck.outgoing, () => strikeNow(effect, struck));
  struck.proceed();
}

function strikeNow(effect: Effect, { incoming, outgoing, proceed }: Struck): void {
  const { socket } = incoming;
  if (effect.malformed) return void socket.end('HTTP/1.1 two-hundred fine\r\nno colon here\r\n\r\n{');
  if (effect.hang === 'head') return;
  if (effect.reset === 'head') return void socket.resetAndDestroy();
  const send = (body: Buffer): void => {
    for (const [name, value] of Object.entries(effect.headers ?? {})) outgoing.setHeader(name, value);
    sendDamaged(outgoing, effect, incoming.method === 'HEAD' ? Buffer.alloc(0) : body);
  };
  if (answersItself(effect)) return send(ownAnswer(effect, incoming, outgoing));
  if (!changesAnswer(effect)) return proceed();
  captureAnswer(outgoing, (body) => {
    if (effect.body === undefined) return send(body);
    const other = Buffer.from(effect.body);
    outgoing.setHeader('content-length', other.length);
    send(other);
  });
  proceed();
}

function preventsRequest(effect: Effect): boolean {
  return answersItself(effect) || effect.malformed === true || [effect.hang, effect.reset].includes('head');
}

function answersItself({ status, redirect }: Effect): boolean {
  return status !== undefined || redirect !== undefined;
}

function changesAnswer({ headers, body, hang, reset, truncate, trickle }: Effect): boolean {
  return [headers, body, hang, reset, truncate, trickle].some((part) => part !== undefined);
}

function ownAnswer(effect: Effect, incoming: IncomingMessage, outgoing: ServerResponse): Buffer {
  const status = effect.status ?? 307;
  outgoing.statusCode = status;
  if (effect.redirect !== undefined) outgoing.setHeader('location', effect.redirect);
  const standard = standardBody(status, incoming);
  if (effect.body === undefined) outgoing.setHeader('content-type', standard.type);
  const body = Buffer.from(effect.body ?? standard.text);
  if (status !== 204 && status !== 304) outgoing.setHeader('content-length', body.length);
  // What the client is still sending is not wanted, and must not be taken for its next request.
  incoming.resume();
  return status === 204 || status === 304 ? Buffer.alloc(0) : body;
}

// A request to a bucket expects XML, with the word of stores for it.
function standardBody(status: number, incoming: IncomingMessage): { type: string; text: string } {
  const words = STATUS_CODES[status] ?? 'Fault';
  const why = 'A fault that was asked for.';
  if (!isSigned(incoming)) {
    const { body } = problem(status, words, why);
    return { type: 'application/problem+json', text: JSON.stringify(body) };
  }
  const code = STORE_CODES[status] ?? words.replaceAll(' ', '');
  return { type: 'application/xml', text: `<Error><Code>${code}</Code><Message>${why}</Message></Error>` };
}

const STORE_CODES: Readonly<Record<number, string>> = {
  403: 'AccessDenied',
  409: 'ConditionalRequestConflict',
  412: 'PreconditionFailed',
  500: 'InternalError',
  503: 'SlowDown',
};
