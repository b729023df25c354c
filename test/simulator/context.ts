import type { FileHandle } from 'node:fs/promises';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Server } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Chance } from '../support/chance.ts';
import type { UnflushedChanges } from './power.ts';
import type { Time } from './time.ts';

/** Whoever runs code in a world: a simulated process or the service. Code outside any world has no actor. */
export interface Actor {
  readonly time: Time;
  readonly chance: Chance;
  readonly network: Network;
  /** The simulated process; undefined for the service, which never crashes. */
  readonly process: SimulatedProcess | undefined;
}

/** A network on which servers listen and to which clients connect. */
export interface Network {
  connect(to: { readonly port: number | string; readonly host: string }, from: Actor): Duplex;
  listen(server: Server, owner: Actor): Server;
}

/** A process as the disk and the network see it. */
export interface SimulatedProcess {
  /** Notes a file that the process has open. */
  hasOpened(file: FileHandle): void;
  readonly isDead: boolean;
  /**
   * Counts a step that others can see: a change of the disk, or bytes on the wire. `what` is the disk call or the
   * method of the request. Returns whether the process dies right after the step. Throws when it is dead or dies before
   * the step, or when the disk is full.
   */
  step(of: 'disk' | 'wire', what?: string): 'live' | 'die';
  /** The changes that a loss of power would undo; undefined in worlds that never lose their power. */
  readonly disk: UnflushedChanges | undefined;
  /** Kills the process at its last step, and its machine too if the ending is a loss of power. */
  end(): void;
}

/** The error that ends everything a killed process still tries to do. */
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
