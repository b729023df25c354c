import { request } from 'node:http';
import { isLoopbackHost } from '../../schema/loopback.ts';

/** How an attempt to notify went. */
export interface Posted {
  /** 0 when no answer came in time. */
  readonly status: number;
  /** Bytes of the answer on the wire. */
  readonly received: number;
}

/** The addresses that webhooks may have: loopback, without encryption. */
export function isWebhookAddress(url: string): boolean {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' };
  return protocol === 'http:' && isLoopbackHost(hostname);
}

/** Posts JSON and resolves with what came of it. Follows no redirect; never rejects. */
export function post(
  url: string,
  body: string,
  limits: { timeoutMs: number; signal: AbortSignal },
): Promise<Posted> {
  const { timeoutMs, signal } = limits;
  return new Promise((resolve) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'svc-sandbox',
      connection: 'close',
    };
    const outgoing = request(url, { method: 'POST', headers, agent: false, signal });
    const end = (status: number): void => {
      clearTimeout(timer);
      resolve({ status, received: outgoing.socket?.bytesRead ?? 0 });
      outgoing.destroy();
    };
    const timer = setTimeout(() => end(0), timeoutMs).unref();
    outgoing.on('response', (answer) => end(answer.statusCode ?? 0)).on('error', () => end(0));
    outgoing.end(body);
  });
}
