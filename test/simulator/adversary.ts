import type { IncomingMessage, ServerResponse } from 'node:http';
import { ACCEPT_SECOND_PUT, FaultChooser, readFaults } from '../../src/sandbox/faults/fault.ts';
import { faultInterceptor } from '../../src/sandbox/faults/intercept.ts';
import type { Interceptor } from '../../src/sandbox/options.ts';
import type { SimulatedProcess } from './context.ts';
import { LogOverlay } from './log-overlay.ts';
import type { Time } from './time.ts';
import { Wire } from './wire.ts';

/** Keys of the other tenant, at the same address: its service takes over what they come with. */
const THEIR_KEYS: Readonly<Record<string, string>> = {
  'their-private-key': 'sandbox-private-key',
  'their-management-key': 'sandbox-management-key',
};

interface Trouble {
  readonly faults: Interceptor;
  readonly stale: FaultChooser;
}

/** Stands between processes and the service: each process has faults of its own. */
export class Adversary {
  readonly #troubles = new WeakMap<SimulatedProcess, Trouble>();
  #weather: Trouble | undefined;
  readonly #logs: LogOverlay;
  /** What the service answered, by method and address, the newest last. */
  readonly #answers = new Map<string, Buffer[]>();
  /** What must never be seen on the wire. */
  readonly leaks: string[] = [];
  /** Takes the requests of the other tenant. */
  theirs: ((incoming: IncomingMessage, outgoing: ServerResponse) => void) | undefined;

  constructor(time: Time) {
    this.#logs = new LogOverlay(time);
  }

  readonly intercept: Interceptor = (incoming, outgoing, proceed) => {
    const { url = '', headers } = incoming;
    const key = headers['svc-api-key'];
    if (url.startsWith('/store/') && key !== undefined) this.leaks.push('a key at the store');
    headers[ACCEPT_SECOND_PUT] = 'yes';
    const process = Wire.openerOf(incoming.socket)?.process;
    // A bystander meets no trouble.
    const troubles = process === undefined ? [] : [this.#troubles.get(process), this.#weather];
    const isStale = troubles.some((trouble) => trouble?.stale.choose(incoming.method ?? '', url) !== undefined);
    const answer = (): void => {
      const theirs = THEIR_KEYS[String(key)];
      if (theirs === undefined) {
        changeBody(outgoing, (body) => this.#change(incoming, body, { isStale, isLate: process !== undefined }));
        return proceed();
      }
      headers['svc-api-key'] = theirs;
      this.theirs?.(incoming, outgoing);
    };
    const [own, weather] = troubles;
    const through = (): void => (weather === undefined ? answer() : weather.faults(incoming, outgoing, answer));
    if (own === undefined) through();
    else own.faults(incoming, outgoing, through);
  };

  /** What goes wrong for a process, from its start to its end. */
  trouble(process: SimulatedProcess, faults: readonly string[], seed: number): void {
    if (faults.length > 0) this.#troubles.set(process, troubleOf(faults, seed));
  }

  /** What goes wrong for every process from now on. */
  weather(faults: readonly string[]): void {
    this.#weather = faults.length === 0 ? undefined : troubleOf(faults, 1);
  }

  #change(
    { method = '', url = '' }: IncomingMessage,
    body: Buffer,
    { isStale, isLate }: { isStale: boolean; isLate: boolean },
  ): Buffer {
    const changed = /^\/logs(\?|$)/.test(url) ? this.#logs.page(body, isLate) : body;
    if (method !== 'GET' || !url.startsWith('/account-updater/')) return changed;
    const [path = ''] = url.split('?');
    const answers = this.#answers.get(path) ?? [];
    this.#answers.set(path, [...answers.slice(0, 3), changed]);
    return (isStale ? answers[0] : undefined) ?? changed;
  }
}

/** Has what a response is ended with, and its length, go through a function. */
function changeBody(outgoing: ServerResponse, change: (body: Buffer) => Buffer): void {
  const end = outgoing.end.bind(outgoing) as (chunk?: unknown) => ServerResponse;
  Object.assign(outgoing, {
    end(chunk?: unknown): ServerResponse {
      if (!(chunk instanceof Uint8Array) || outgoing.statusCode !== 200) return end(chunk);
      const changed = change(Buffer.from(chunk));
      outgoing.setHeader('content-length', changed.length);
      return end(changed);
    },
  });
}

function troubleOf(faults: readonly string[], seed: number): Trouble {
  return {
    faults: faultInterceptor(readAll(faults.filter((fault) => !isStaleness(fault))), seed),
    stale: new FaultChooser(
      readAll(faults.filter(isStaleness).map((fault) => fault.replace('stale', 'x-stale=1'))),
      seed,
    ),
  };
}

function isStaleness(fault: string): boolean {
  return fault.startsWith('stale@');
}

function readAll(texts: readonly string[]): ReturnType<typeof readFaults>['faults'] {
  return readFaults(texts.join('\n')).faults;
}

/** A second upload must be seen, so the store accepts it. */
export const acceptSecondUpload: Interceptor = ({ headers }, _outgoing, proceed) => {
  headers[ACCEPT_SECOND_PUT] = 'yes';
  proceed();
};
