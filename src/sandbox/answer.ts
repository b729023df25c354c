import type { Answer, Exchange } from './routes/route.ts';

/** Sends a JSON answer, or one without a body. */
export function sendAnswer({ incoming, outgoing }: Exchange, answer: Answer): void {
  const text = answer.body === undefined ? undefined : JSON.stringify(answer.body);
  outgoing.statusCode = answer.status;
  if (text !== undefined) outgoing.setHeader('content-type', 'application/json; charset=utf-8');
  for (const [name, value] of Object.entries(answer.headers ?? {})) outgoing.setHeader(name, value);
  if (answer.status !== 204)
    outgoing.setHeader('content-length', text === undefined ? 0 : Buffer.byteLength(text));
  outgoing.end(incoming.method === 'HEAD' ? undefined : text);
}
