import type { FileHandle } from 'node:fs/promises';
import { PassThrough, Writable } from 'node:stream';
import { type ErrorCode, SvcError } from '../../src/base/errors.ts';
import { main } from '../../src/main.ts';
import type { Chance } from '../support/chance.ts';
import { type Actor, Killed, runAs, type SimulatedProcess } from './context.ts';
import type { WorldNetwork } from './network.ts';
import type { UnflushedChanges } from './power.ts';
import type { Time } from './time.ts';
import type { Wire } from './wire.ts';

/** The early end of a process: the step at which it comes, and how. */
export interface Ending {
  readonly step: number;
  /** Whether only steps on the wire count. */
  readonly onWire?: boolean;
  /** The method of the request with which counting begins. */
  readonly since?: 'POST' | 'PUT';
  /** Whether the machine loses its power: every process dies, and the disk loses unflushed changes. */
  readonly power?: boolean;
  /** `before` and `after` mean a kill -9 around the step. The process can handle a signal. */
  readonly how: 'before' | 'after' | 'SIGINT' | 'SIGTERM' | 'SIGHUP';
}

export interface Start {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly home: string;
  /** The number of the machine. */
  readonly on: number;
  readonly time: Time;
  readonly network: WorldNetwork;
  readonly chance: Chance;
  readonly pid: number;
  readonly isAlive: (pid: number) => boolean;
  readonly skewMs?: number;
  readonly ending?: Ending | undefined;
  /** The first step at which the disk is full. */
  readonly fullAt?: number | undefined;
  readonly disk: UnflushedChanges | undefined;
  /** The number of steps after which the disk has room again. */
  readonly fullFor?: number | undefined;
  /** Called when the process dies with the whole machine. */
  readonly losePower: () => void;
}

/** The end of a process. `code` is undefined if it was killed. */
export interface Ended {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** The number of its steps, and how long it ran. */
  readonly steps: number;
  readonly tookMs: number;
  readonly process: SimulatedProcess;
  /** The machine on which it ran, and its home. */
  readonly on: number;
  readonly home: string;
  /** Whether another process ran at the same time. */
  readonly hadCompany: boolean;
}

const SIGNALS: Readonly<Record<string, ErrorCode>> = { SIGHUP: 'hangup', SIGINT: 'interrupted', SIGTERM: 'terminated' };

/** Calls for which a disk needs room. */
const GROWING = new Set('appendFile copyFile link mkdir symlink write writeFile writev'.split(' '));

function diskFull(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC', errno: -28 });
}

/** One run of the tool: a process of the world. */
export class ToolProcess implements SimulatedProcess {
  readonly #start: Start;
  readonly #wires = new Set<Wire>();
  readonly #files = new Set<FileHandle>();
  readonly #signal = new AbortController();
  readonly #stdout = new Kept();
  readonly #stderr = new Kept();
  #steps = 0;
  /** The number of steps since counting for the ending began. */
  #counted = 0;
  #hasBegun: boolean;
  #isDead = false;
  /** Whether another process ran at the same time. */
  hadCompany = false;
  #announceDeath: () => void = () => undefined;

  constructor(start: Start) {
    this.#start = start;
    this.#hasBegun = start.ending?.since === undefined;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get disk(): UnflushedChanges | undefined {
    return this.#start.disk;
  }

  step(of: 'disk' | 'wire', what = ''): 'live' | 'die' {
    if (this.#isDead) throw new Killed();
    this.#steps += 1;
    const { ending, fullAt = Infinity, fullFor = Infinity } = this.#start;
    const isFull = this.#steps >= fullAt && this.#steps < fullAt + fullFor;
    if (isFull && GROWING.has(what)) throw diskFull();
    if (ending === undefined) return 'live';
    if (what === ending.since) this.#hasBegun = true;
    if (!this.#hasBegun || (ending.onWire && of === 'disk')) return 'live';
    this.#counted += 1;
    if (ending.step !== this.#counted) return 'live';
    if (ending.how === 'after') return 'die';
    if (ending.how === 'before') {
      this.end();
      throw new Killed();
    }
    const code = SIGNALS[ending.how];
    if (code !== undefined) this.#signal.abort(new SvcError(code, 'a signal came'));
    return 'live';
  }

  /** Kills the process at its last step, and its machine too if the ending is a loss of power. */
  end(): void {
    if (this.#start.ending?.power) this.#start.losePower();
    this.die();
  }

  die(): void {
    this.#isDead = true;
    for (const wire of this.#wires) wire.destroy();
    for (const file of this.#files) void file.close();
    this.#announceDeath();
  }

  hasConnected(wire: Wire): void {
    this.#wires.add(wire);
    wire.once('close', () => this.#wires.delete(wire));
  }

  /** Lets the system close a file when the process dies. One that is left open at another end is a leak. */
  hasOpened(file: FileHandle): void {
    if (this.#isDead) void file.close();
    this.#files.add(file);
  }

  async run(): Promise<Ended> {
    const { time, network, chance } = this.#start;
    const started = time.now();
    const actor: Actor = { time, network, chance, process: this };
    const death = new Promise<undefined>((resolve) => (this.#announceDeath = () => resolve(undefined)));
    const work = runAs(actor, () => main(this.#start.argv, this.#system()));
    const code = await Promise.race([work.catch(rethrowUnlessDead(this)), death]);
    if (!this.#isDead) this.#isDead = true;
    for (const wire of this.#wires) wire.destroy();
    const stdout = this.#stdout.text;
    const stderr = this.#stderr.text;
    const { on, home } = this.#start;
    const { hadCompany } = this;
    const tookMs = time.now() - started;
    return { code, stdout, stderr, steps: this.#steps, tookMs, process: this, on, home, hadCompany };
  }

  #system(): Parameters<typeof main>[1] {
    const { env, home, pid, isAlive, time, skewMs } = this.#start;
    const clock = time.clock(skewMs);
    return {
      env: { HOME: home, LANG: 'C.UTF-8', ...env },
      platform: 'linux',
      home,
      cwd: home,
      pid,
      nodeVersion: process.versions.node,
      stdin: new PassThrough().end(),
      stdout: this.#stdout,
      stderr: this.#stderr,
      clock: {
        now: () => clock.now(),
        // A dead process never wakes.
        sleep: async (ms, signal) => {
          await clock.sleep(ms, signal);
          if (this.#isDead) await new Promise(() => undefined);
        },
      },
      signal: this.#signal.signal,
      isAlive,
    };
  }
}

function rethrowUnlessDead(process: SimulatedProcess): (error: unknown) => undefined {
  return (error) => {
    if (!process.isDead) throw error;
    return undefined;
  };
}

class Kept extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: string, taken: () => void): void {
    this.text += String(chunk);
    taken();
  }
}
