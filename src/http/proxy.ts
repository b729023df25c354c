import { SvcError } from '../errors.ts';
import { isLoopback, readAddress } from '../security/address.ts';
import type { Environment } from '../system.ts';

/** A proxy that the environment names. Its address may hold a password: never show it. */
export interface Proxy {
  readonly url: URL;
  /** The variable that names it, for messages. */
  readonly variable: string;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * The proxy for an address: `https_proxy` or `http_proxy` by its scheme, else `all_proxy`, in lower case first.
 * None for this machine, nor for what `no_proxy` names.
 * @throws SvcError `config` when the variable holds no usable address; its value is not shown
 */
export function proxyFor(target: URL, environment: Environment): Proxy | undefined {
  if (isLoopback(target)) return undefined;
  const named = read(environment, target.protocol === 'https:' ? 'https_proxy' : 'http_proxy');
  const { variable, value } = named ?? read(environment, 'all_proxy') ?? { variable: '', value: '' };
  if (value === '' || isExempt(target, read(environment, 'no_proxy')?.value ?? '')) return undefined;
  const url = readAddress(value.includes('://') ? value : `http://${value}`);
  if (url && (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== '')
    return { url, variable };
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

/** Whether `no_proxy` names the host: `*`, a name with everything below it, or either with a port. */
function isExempt(target: URL, list: string): boolean {
  const host = target.hostname.toLowerCase();
  const port = target.port || DEFAULT_PORTS[target.protocol];
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      const [, name = '', entryPort] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      if (entry === '*') return true;
      if (name === '' || (entryPort !== undefined && entryPort !== port)) return false;
      return host === name || host.endsWith(`.${name}`);
    });
}
