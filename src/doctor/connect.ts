import { connect, isIP, type Socket } from 'node:net';
import { connect as connectSecurely, type PeerCertificate, type TLSSocket } from 'node:tls';
import type { Proxy } from '../http/proxy.ts';
import { TransportFailure } from '../http/transport-failure.ts';
import { openTunnel } from '../http/tunnel.ts';

/** The result of a TLS handshake. `validTo` in milliseconds since the epoch. */
export interface Handshake {
  readonly protocol: string;
  readonly issuer: string;
  readonly validTo: number;
}

/** Opens a connection, with a timeout of `ms`. Rejects with the system's error or a `TransportFailure`. */
export function connectTo(host: string, port: number, ms: number): Promise<Socket> {
  return bounded(ms, (done) => {
    const socket = connect({ host, port, autoSelectFamily: true });
    socket.on('error', done).once('connect', () => done(socket));
    return socket;
  });
}

/** Opens a tunnel through a proxy to `target` (host and port), with a timeout of `ms`. */
export function throughProxy(proxy: Proxy, target: string, ms: number): Promise<Socket> {
  return bounded(ms, (done) => openTunnel(proxy, target, done));
}

/** Performs a TLS handshake on a connection, with the usual certificate checks. */
export async function handshake(socket: Socket, host: string, ms: number): Promise<Handshake> {
  const name = host.replace(/^\[|\]$/g, '');
  const secured = await bounded<TLSSocket>(ms, (done) => {
    const servername = isIP(name) === 0 ? name : '';
    const tls = connectSecurely({ socket, host: name, servername, rejectUnauthorized: true });
    tls.on('error', done).once('secureConnect', () => done(tls));
    return tls;
  });
  const certificate = secured.getPeerCertificate();
  return {
    protocol: secured.getProtocol() ?? 'TLS',
    issuer: issuerOf(certificate),
    validTo: Date.parse(certificate.valid_to),
  };
}

function issuerOf({ issuer }: PeerCertificate): string {
  const { O: organization, CN: name } = issuer;
  return [organization ?? name ?? 'an unnamed authority'].flat().join(', ');
}

function bounded<S extends Socket>(
  ms: number,
  open: (done: (result: S | Error) => void) => { destroy(): unknown },
): Promise<S> {
  return new Promise((resolve, reject) => {
    const settle = (result: S | Error): void => {
      clearTimeout(timer);
      if (!(result instanceof Error)) return resolve(result);
      opening.destroy();
      reject(result);
    };
    const timer = setTimeout(
      () => settle(new TransportFailure('timeout', 'connect', `no response within ${ms / 1000} s`)),
      ms,
    );
    const opening = open(settle);
  });
}
