import type { IncomingMessage, ServerResponse } from 'node:http';
import { systemCodeOf } from '../system-code.ts';
import { BROKEN_OFF } from './receive-body.ts';

/** A request that was turned away. The reason holds nothing of what was sent. */
export interface Refusal {
  readonly status: number;
  readonly reason: string;
}

const LAST_MOMENT_MS = 500;

/** Answers with the reason. The answer is whole before the body is: a sender still busy sending must be able to read it. */
export function refuse(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { status, reason }: Refusal,
): void {
  const text = `${JSON.stringify({ error: reason })}\n`;
  outgoing.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
    ...(status === 405 ? { allow: 'POST' } : {}),
    ...(status === 503 ? { 'retry-after': '10' } : {}),
  });
  outgoing.write(text);
  const end = (): void => {
    clearTimeout(timer);
    outgoing.end();
    incoming.destroy();
  };
  const timer = setTimeout(end, LAST_MOMENT_MS);
  incoming.on('end', end).on('close', end).resume();
  if (incoming.readableEnded || incoming.destroyed) end();
}

/** Ends a connection whose request is late or no HTTP. */
export function refuseConnection(
  error: Error,
  socket: { writable: boolean; end(text: string): unknown; destroy(): unknown },
  onRefused: (refusal: Refusal) => void,
): void {
  const code = systemCodeOf(error);
  const isLate = code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const [status, words] = isLate ? [408, 'Request Timeout'] : [400, 'Bad Request'];
  const reason = isLate ? 'it did not come whole in time' : brokenReason(code);
  if (code !== 'ECONNRESET') onRefused({ status, reason });
  if (socket.writable)
    socket.end(`HTTP/1.1 ${status} ${words}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  else socket.destroy();
}

function brokenReason(code: string | undefined): string {
  return code === 'HPE_INVALID_EOF_STATE' ? BROKEN_OFF : 'it is not valid HTTP';
}
