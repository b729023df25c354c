import type { IncomingMessage } from 'node:http';
import type { Respond } from './world.ts';

/** A card number and a signature that no output may contain. */
export const CANARY = { card: '4111111111111111', signature: 'CANARYSIGNATURE0123456789abcdef' } as const;

/** Responses of a misbehaving service: each repeats the key, a card number and a signed address. */
export const BAD_RESPONSES: Readonly<Record<string, Respond>> = {
  'a problem body': (request, response) =>
    response
      .writeHead(422, { 'x-request-id': keyOf(request) })
      .end(
        JSON.stringify({
          title: gossip(request),
          detail: CANARY.card,
          errors: { [keyOf(request)]: [gossip(request)] },
          trace_id: keyOf(request),
        }),
      ),
  'an HTML page': (request, response) =>
    response.writeHead(404, { 'content-type': 'text/html' }).end(`<html><title>${gossip(request)}</title></html>`),
  'plain text': (request, response) => response.writeHead(400).end(gossip(request)),
  'a success that is no JSON': (request, response) => response.writeHead(200).end(gossip(request)),
  'a success of another shape': (request, response) =>
    response.writeHead(200).end(JSON.stringify({ [gossip(request)]: gossip(request) })),
  'a redirect': (request, response) => {
    const location = `http://127.0.0.1:9/${keyOf(request)}?X-Amz-Signature=${CANARY.signature}&key=${keyOf(request)}`;
    response.writeHead(302, { location }).end(gossip(request));
  },
  'a refusal': (request, response) => response.writeHead(403).end(JSON.stringify({ detail: gossip(request) })),
  'a server error': (request, response) => response.writeHead(500).end(gossip(request)),
  'a broken status line': (request, response) => response.socket?.end(`HTTP/1.1 ${gossip(request)}\r\n\r\n`),
  'a reset': (request) => request.socket.destroy(),
};

function keyOf(request: IncomingMessage): string {
  return String(request.headers['svc-api-key']);
}

/** Text that repeats the key, a card number and a signed address. */
export function gossip(request: IncomingMessage): string {
  const key = keyOf(request);
  const address = `https://store.example/x?X-Amz-Signature=${CANARY.signature}&X-Amz-Credential=${key}`;
  return `key ${key} ${Buffer.from(key).toString('base64')} card ${CANARY.card} 4111 1111 1111 1111 at ${address}`;
}
