import { AsyncLocalStorage } from 'node:async_hooks';
import type { Server } from 'node:net';
import type { Duplex } from 'node:stream';
import type { UnflushedChanges } from './power.ts';
import type { Chance } from './random.ts';
import type { Time } from './time.ts';

/** Who runs: a simulated process, or the service. Code outside any world has none. */
export interface Actor {
  readonly time: Time;
  readonly chance: Chance;
  readonly network: Network;
  /** The process; the service has none, and never crashes. */
  readonly process: SimulatedProcess | undefined;
}

/** Where connections go and where servers listen. */
export interface Network {
  connect(to: { readonly port: number | string; readonly host: string }, from: Actor): Duplex;
  listen(server: Server, owner: Actor): Server;
}

/** What the disk and the network ask of a process. */
export interface SimulatedProcess {
  readonly isDead: boolean;
  /**
   * Counts a step that others can see: a change of the disk or bytes on the wire; `what` is the call or the method of
   * the request. Throws when the process is dead or dies before it, or the disk is full; says whether it dies right
   * after it.
   */
  step(of: 'disk' | 'wire', what?: string): 'live' | 'die';
  /** What its machine would lose with its power, where that is to happen. */
  readonly disk: UnflushedChanges | undefined;
  /** Dies at the step that was to be its last. */
  end(): void;
}

/** What ends everything that a killed process still tries. */
export class Killed extends Error {
  constructor() {
    super('the process was killed');
  }
}

const actors = new AsyncLocalStorage<Actor | undefined>();

export function actor(): Actor | undefined {
  return actors.getStore();
}

export function runAs<T>(who: Actor | undefined, work: () => T): T {
  return actors.run(who, work);
}
