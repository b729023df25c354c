// Finds the proxy for an address in the environment.

import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { SvcError } from '../../base/errors.ts';
import type { Environment } from '../../base/system.ts';
import { isLoopback, readAddress } from '../../schema/address.ts';
import { ownMember } from '../../schema/own-member.ts';

/** A proxy. Its address may contain a password and is never shown. */
export interface Proxy {
  readonly url: URL;
  /** The variable that names the proxy, for messages. */
  readonly variable: string;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * Returns the proxy that `https_proxy` or `http_proxy` names for the scheme of an address, else `all_proxy`; variables in lower case
 * come before those in upper case. Returns undefined for this machine and for hosts in `no_proxy`.
 * @throws SvcError `config` if the variable contains no usable address; the error does not show the value
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
 * Whether `no_proxy` names a host. An entry is `*`, a domain with all its subdomains (with or without a port), an IP address, a
 * range, or the beginning of an address such as `10.*`. A domain may end with a dot, and have letters of any alphabet.
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
      const domain = withoutDot(domainToASCII(name) || name);
      return host === domain || host.endsWith(`.${domain}`);
    });
}

function withoutDot(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/** Whether an entry is the IP address of a host, with or without brackets, or a range that contains it, such as `10.0.0.0/8`. */
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
