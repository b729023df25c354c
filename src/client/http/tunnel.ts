// Opens tunnels through a proxy.

import type { ClientRequest } from 'node:http';
import type { RequestOptions } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Environment } from '../../base/system.ts';
import { decodedUri } from '../../schema/address.ts';
import type { Proxy } from './proxy.ts';
import { tlsOptions } from './tls-options.ts';
import { type FailureKind, toTransportFailure, TransportFailure } from './transport-failure.ts';

/** Requests a tunnel to a target (host and port). Calls `done` once. Destroying the returned request gives up. */
type OpenTunnel = (target: string, done: (result: Socket | TransportFailure) => void) => ClientRequest;

/** Returns the function that opens tunnels through a proxy. Failures never contain the address of the proxy. */
export async function loadTunnel({ url, variable }: Proxy, environment: Environment): Promise<OpenTunnel> {
  const authorities = url.protocol === 'https:' ? tlsOptions(environment) : {};
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  return (target, done) => {
    const connecting = request({ ...optionsOf(url, target), ...authorities });
    connecting.once('connect', ({ statusCode = 0 }, socket: Socket, early: Buffer) => {
      // The caller adds its listener too late for an immediate error.
      socket.on('error', () => undefined);
      if (statusCode >= 200 && statusCode < 300) {
        if (early.length > 0) socket.unshift(early);
        done(socket);
      } else {
        socket.destroy();
        done(refused(statusCode, { url, variable }));
      }
    });
    connecting.once('error', (error) => done(unusable(error, variable)));
    connecting.end();
    return connecting;
  };
}

function optionsOf(url: URL, target: string): RequestOptions {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const user = [url.username, url.password].map((part) => decodedUri(part) ?? part).join(':');
  return {
    host,
    // By default, Node takes the server name from the host header, which names the target instead of the proxy.
    servername: isIP(host) === 0 ? host : '',
    port: url.port || (url.protocol === 'https:' ? 443 : 80),
    method: 'CONNECT',
    path: target,
    agent: false,
    // Overrides NODE_TLS_REJECT_UNAUTHORIZED (R64).
    rejectUnauthorized: true,
    headers: {
      host: target,
      ...(user === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` }),
    },
  };
}

function refused(status: number, { url, variable }: Proxy): TransportFailure {
  const hasUser = url.username !== '' || url.password !== '';
  // Some proxies send 401 for a password that they do not accept.
  const isAboutUser = status === 407 || status === 401;
  const aboutUser = hasUser ? 'did not accept the user and password' : 'asks for a user and password';
  const words = `the proxy from ${variable} ${isAboutUser ? aboutUser : 'refused the tunnel'} (${status})`;
  return new TransportFailure(status >= 500 ? 'proxy' : 'proxy_refused', 'connect', words);
}

function unusable(error: Error, variable: string): TransportFailure {
  const { kind, systemCode } = toTransportFailure(error, 'connect');
  const words = systemCode?.startsWith('HPE_') ? 'did not respond as a proxy does' : WORDS[kind];
  const message = `the proxy from ${variable} ${words ?? 'could not be reached'}`;
  return new TransportFailure(kind === 'tls' ? 'proxy_refused' : 'proxy', 'connect', message, systemCode);
}

const WORDS: Partial<Record<FailureKind, string>> = {
  refused: 'refused the connection',
  reset: 'closed the connection',
  dns: 'has a name that could not be resolved',
  tls: 'has a TLS certificate that was not accepted',
};
