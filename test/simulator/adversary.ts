import type { IncomingMessage } from 'node:http';
import { ACCEPT_SECOND_PUT } from '../../src/sandbox/faults/fault.ts';
import { faultInterceptor } from '../../src/sandbox/faults/intercept.ts';
import { readFaults } from '../../src/sandbox/faults/fault.ts';
import type { Interceptor } from '../../src/sandbox/options.ts';
import type { SimulatedProcess } from './context.ts';
import { Wire } from './wire.ts';

/** Stands between processes and the service: each process has faults of its own. */
export class Adversary {
  readonly #faults = new WeakMap<SimulatedProcess, Interceptor>();
  /** What must never be seen on the wire. */
  readonly leaks: string[] = [];

  readonly intercept: Interceptor = (incoming, outgoing, proceed) => {
    // A second upload must be seen, so the store accepts it.
    incoming.headers[ACCEPT_SECOND_PUT] = 'yes';
    this.#watch(incoming);
    const process = Wire.openerOf(incoming.socket)?.process;
    const faults = process && this.#faults.get(process);
    if (faults === undefined) proceed();
    else faults(incoming, outgoing, proceed);
  };

  /** What goes wrong for a process, from its start to its end. */
  trouble(process: SimulatedProcess, faults: readonly string[], seed: number): void {
    if (faults.length > 0)
      this.#faults.set(process, faultInterceptor(readFaults(faults.join('\n')).faults, seed));
  }

  #watch({ url = '', headers }: IncomingMessage): void {
    if (url.startsWith('/store/') && 'svc-api-key' in headers) this.leaks.push(`a key went to ${url}`);
  }
}
