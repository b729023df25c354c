// Finds the proxy for an address, and opens tunnels through it.

import type { ClientRequest } from 'node:http';
import type { RequestOptions } from 'node:https';
import { BlockList, isIP, type Socket } from 'node:net';
import { domainToASCII } from 'node:url';
import { SvcError } from '../../base/errors.ts';
import type { Environment } from '../../base/system.ts';
import { decodedUri, isLoopback, readAddress } from '../../schema/address.ts';
import { ownMember } from '../../schema/own-member.ts';
import { tlsOptions } from './tls-options.ts';
import { type FailureKind, toTransportFailure, TransportFailure } from './transport-failure.ts';

/** A proxy named by the environment. Its address may contain a password and is never shown. */
export interface Proxy {
  readonly url: URL;
  /** The variable that names it, for messages. */
  readonly variable: string;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * The proxy for an address: `https_proxy` or `http_proxy` by its scheme, else `all_proxy`, in lower case first.
 * None for this machine, nor for what `no_proxy` names.
 * @throws SvcError `config` when the variable contains no usable address; its value is not shown
 */
export function proxyFor(target: URL, environment: Environment): Proxy | undefined {
  if (isLoopback(target)) return undefined;
  const named = read(environment, target.protocol === 'https:' ? 'https_proxy' : 'http_proxy');
  const { variable, value } = named ?? read(environment, 'all_proxy') ?? { variable: '', value: '' };
  if (value === '' || isExempt(target, read(environment, 'no_proxy')?.value ?? '')) return undefined;
  const url = readAddress(value.includes('://') ? value : `http://${value}`);
  if (url && (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== '') return { url, variable };
  throw new SvcError('config', `the proxy address in ${variable} is not a usable URL`, {
    hint: `Set ${variable} to something like http://proxy.example:3128, or unset it.`,
  });
}

function read(environment: Environment, name: string): { variable: string; value: string } | undefined {
  for (const variable of [name, name.toUpperCase()]) {
    const value = environment[variable]?.trim() ?? '';
    if (value !== '') return { variable, value };
  }
  return undefined;
}

/**
 * Whether `no_proxy` names the host: `*`, a name with everything below it, either with a port, an address, a range or the
 * beginning of an address such as `10.*`. A name may have a dot at its end, and letters of any alphabet.
 */
function isExempt(target: URL, list: string): boolean {
  const host = withoutDot(target.hostname);
  const port = target.port || ownMember(DEFAULT_PORTS, target.protocol);
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      const [, name = '', entryPort] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      if (entry === '*' || isAddressIn(host, entry)) return true;
      if (name === '' || (entryPort !== undefined && entryPort !== port)) return false;
      if (/^(?:\d+\.){1,3}\*$/.test(name)) return isIP(host) === 4 && host.startsWith(name.slice(0, -1));
      const known = withoutDot(domainToASCII(name) || name);
      return host === known || host.endsWith(`.${known}`);
    });
}

function withoutDot(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/** Tells whether an entry is the address of a host, in any form and without brackets too, or a range such as `10.0.0.0/8`. */
function isAddressIn(host: string, entry: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  const [, first = '', bits] = /^\[?([\d.:a-f]+)\]?(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  const version = isIP(first);
  if (version === 0 || version !== isIP(address)) return false;
  const [family, most] = version === 4 ? (['ipv4', 32] as const) : (['ipv6', 128] as const);
  const range = new BlockList();
  range.addSubnet(first, Math.min(Number(bits ?? most), most), family);
  return range.check(address, family);
}

type Done = (result: Socket | TransportFailure) => void;

/** Requests a tunnel to a target (host and port). `done` is called once; destroying what is returned gives up. */
export type OpenTunnel = (target: string, done: Done) => ClientRequest;

/** Loads the function that opens tunnels through a proxy. Failures never contain the proxy's address. */
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
    // By default Node takes the server name from the host header, which names the target rather than the proxy.
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
  if (status === 407 || status === 401)
    return new TransportFailure(
      'proxy_refused',
      'connect',
      `the proxy from ${variable} ${hasUser ? 'did not accept the user and password' : 'asks for a user and password'} (${status})`,
    );
  const kind: FailureKind = status >= 500 ? 'proxy' : 'proxy_refused';
  return new TransportFailure(kind, 'connect', `the proxy from ${variable} refused the tunnel (${status})`);
}

function unusable(error: Error, variable: string): TransportFailure {
  const { kind, systemCode } = toTransportFailure(error, 'connect');
  const words = systemCode?.startsWith('HPE_') ? 'did not answer as a proxy does' : PROXY_WORDS[kind];
  const lasting = kind === 'tls' ? 'proxy_refused' : 'proxy';
  return new TransportFailure(
    lasting,
    'connect',
    `the proxy from ${variable} ${words ?? 'could not be reached'}`,
    systemCode,
  );
}

const PROXY_WORDS: Partial<Record<FailureKind, string>> = {
  refused: 'refused the connection',
  reset: 'closed the connection',
  dns: 'has a name that could not be resolved',
  tls: 'has a TLS certificate that was not accepted',
};
