import { type ClientRequest, request as plainRequest } from 'node:http';
import { request as secureRequest, type RequestOptions } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Proxy } from './proxy.ts';
import { type FailureType, toTransportFailure, TransportFailure } from './transport-failure.ts';

type Done = (result: Socket | TransportFailure) => void;

/**
 * Asks a proxy for a tunnel to `target` (host and port). `done` is called once; destroying what is returned
 * gives up. Failures never hold the proxy's address, which may hold a password.
 */
export function openTunnel(proxy: Proxy, target: string, done: Done): ClientRequest {
  const { url, variable } = proxy;
  const request = (url.protocol === 'https:' ? secureRequest : plainRequest)(optionsOf(url, target));
  request.once('connect', ({ statusCode = 0 }, socket: Socket, early: Buffer) => {
    // Whoever takes the tunnel listens too late for an error that comes at once.
    socket.on('error', () => undefined);
    if (statusCode >= 200 && statusCode < 300) {
      if (early.length > 0) socket.unshift(early);
      done(socket);
    } else {
      socket.destroy();
      done(refused(statusCode, variable));
    }
  });
  request.once('error', (error) => done(unusable(error, variable)));
  request.end();
  return request;
}

function optionsOf(url: URL, target: string): RequestOptions {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const user = `${decode(url.username)}:${decode(url.password)}`;
  return {
    host,
    // It would be taken from the host header, which names the target and not the proxy.
    servername: isIP(host) === 0 ? host : '',
    port: url.port || (url.protocol === 'https:' ? 443 : 80),
    method: 'CONNECT',
    path: target,
    agent: false,
    // Whatever NODE_TLS_REJECT_UNAUTHORIZED says (R64).
    rejectUnauthorized: true,
    headers: {
      host: target,
      ...(user === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` }),
    },
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function refused(status: number, variable: string): TransportFailure {
  if (status === 407) {
    return new TransportFailure(
      'proxy_refused',
      'connect',
      `the proxy from ${variable} asks for a user and password (407)`,
    );
  }
  const kind: FailureType = status >= 500 ? 'proxy' : 'proxy_refused';
  return new TransportFailure(kind, 'connect', `the proxy from ${variable} refused the tunnel (${status})`);
}

function unusable(error: Error, variable: string): TransportFailure {
  const { kind, systemCode } = toTransportFailure(error, 'connect');
  const words = systemCode?.startsWith('HPE_') ? 'did not answer as a proxy does' : WORDS[kind];
  const lasting = kind === 'tls' ? 'proxy_refused' : 'proxy';
  return new TransportFailure(
    lasting,
    'connect',
    `the proxy from ${variable} ${words ?? 'could not be reached'}`,
    systemCode,
  );
}

const WORDS: Partial<Record<FailureType, string>> = {
  refused: 'refused the connection',
  reset: 'closed the connection',
  dns: 'has a name that could not be resolved',
  tls: 'has a TLS certificate that was not accepted',
};
