import Agent from 'undici/lib/dispatcher/agent.js';
import type { Dispatcher } from 'undici';
import { SvcError } from '../errors.ts';
import { readAddress } from '../address.ts';
import type { Environment } from '../system.ts';
import { answerFirstPool } from './answer-first.ts';

/** The connections of one client. Closing it ends them all at once. */
export interface Transport {
  /** `fresh` never reuses a connection: a request that must not run twice is not put on one that may be half dead. */
  dispatcher(fresh: boolean): Promise<Dispatcher>;
  close(): Promise<void>;
}

/** Opens connections directly, or through the proxy that the environment names (R24). */
export function createTransport(environment: Environment = {}): Transport {
  const open = new Map<boolean, Promise<Dispatcher>>();
  return {
    dispatcher(fresh) {
      const known = open.get(fresh) ?? createDispatcher(environment, fresh);
      open.set(fresh, known);
      return known;
    },
    async close() {
      for (const dispatcher of open.values()) await (await dispatcher).destroy();
      open.clear();
    },
  };
}

// Our own watchdog bounds every stage exactly; the library's coarse timers stay out of the way.
const OPTIONS = {
  headersTimeout: 0,
  bodyTimeout: 0,
  connect: { timeout: 0 },
  factory: answerFirstPool,
};

async function createDispatcher(environment: Environment, fresh: boolean): Promise<Dispatcher> {
  const options = { ...OPTIONS, pipelining: fresh ? 0 : 1 };
  const httpProxy = proxyOf(environment, 'http_proxy');
  const httpsProxy = proxyOf(environment, 'https_proxy');
  if (!httpProxy && !httpsProxy) return new Agent(options);
  const { default: EnvHttpProxyAgent } = await import('undici/lib/dispatcher/env-http-proxy-agent.js');
  const noProxy = environment['no_proxy'] ?? environment['NO_PROXY'] ?? '';
  return new EnvHttpProxyAgent({ ...options, httpProxy, httpsProxy, noProxy });
}

function proxyOf(environment: Environment, name: string): string {
  const variable = environment[name] ? name : name.toUpperCase();
  const value = environment[variable] ?? '';
  if (value === '') return '';
  const url = readAddress(value);
  if (url && ['http:', 'https:', 'socks5:'].includes(url.protocol)) return value;
  throw new SvcError('config', `the proxy address in ${variable} is not a usable URL`, {
    hint: `set ${variable} to something like http://proxy.example:3128, or unset it`,
  });
}
