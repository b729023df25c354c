import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../src/base/system.ts';

interface Timer {
  readonly due: number;
  readonly number: number;
  readonly wake: () => void;
  /** Whether time jumps to this timer. Otherwise it only goes off when time passes it. */
  drives: boolean;
}

/** Event loop turns without activity after which every actor counts as asleep. */
const QUIET_TURNS = 4;

/** Event loop turns without activity or timers after which a world counts as stuck. */
const STUCK_TURNS = 50_000;

/** The time of a world: it stands still while anything is under way, and then jumps to the next timer. */
export class Time {
  #now: number;
  #timers: Timer[] = [];
  #numbers = 0;
  #activity = 0;
  #busy = 0;
  #diskWork = 0;

  constructor(start: number) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  /** Whether a call to the disk is under way, which ends soon. */
  get isDiskHeld(): boolean {
    return this.#diskWork > 0;
  }

  /** Notes activity, which stops time for a few more turns. */
  stir(): void {
    this.#activity += 1;
  }

  /** Stops time until the returned function is called. With `isDisk`, networks wait too, since disks are faster. */
  hold(isDisk = false): () => void {
    this.#busy += 1;
    this.#diskWork += Number(isDisk);
    return () => {
      this.#busy -= 1;
      this.#diskWork -= Number(isDisk);
      this.stir();
    };
  }

  /** Stops time until the work is over. */
  async during<T>(work: Promise<T>, isDisk = false): Promise<T> {
    const release = this.hold(isDisk);
    try {
      return await work;
    } finally {
      release();
    }
  }

  /** Calls `wake` after `ms`. Returns functions that cancel the timer, and that set whether time jumps to it. */
  after(ms: number, wake: () => void): { cancel: () => void; unref: () => void; ref: () => void } {
    this.#numbers += 1;
    const timer = { due: this.#now + Math.max(0, ms), number: this.#numbers, wake, drives: true };
    this.#timers.push(timer);
    this.stir();
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((other) => other !== timer);
      },
      unref: () => {
        timer.drives = false;
      },
      ref: () => {
        timer.drives = true;
      },
    };
  }

  /** Returns a clock that is wrong by `skewMs`. */
  clock(skewMs = 0): Clock {
    return { now: () => this.#now + skewMs, sleep: (ms, signal) => this.#sleep(ms, signal) };
  }

  async #sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (!(ms > 0)) return;
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => {
        timer.cancel();
        this.stir();
        reject(signal?.reason as Error);
      };
      const timer = this.after(ms, () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      });
      signal?.addEventListener('abort', stop, { once: true });
    });
  }

  /** Lets time pass until the work is over. Throws when nothing can end it anymore. */
  async until<T>(work: Promise<T>): Promise<T> {
    const state = { isOver: false };
    const over = (): void => {
      state.isOver = true;
    };
    work.then(over, over);
    let seen = this.#activity;
    let quiet = 0;
    while (!state.isOver) {
      await turn();
      const isQuiet = this.#activity === seen && this.#busy === 0;
      quiet = isQuiet ? quiet + 1 : 0;
      seen = this.#activity;
      if (quiet < QUIET_TURNS || state.isOver) continue;
      if (isDiskAtWork() || this.#jump()) quiet = 0;
      else if (quiet > STUCK_TURNS) throw new Error('the world stands still: nobody sleeps, and nothing moves');
    }
    return work;
  }

  /** Lets `ms` pass. */
  pass(ms: number): Promise<void> {
    return this.until(new Promise((resolve) => this.after(ms, resolve)));
  }

  /** Jumps to the first timer that drives time, and wakes all timers due then. Returns false if no timer does. */
  #jump(): boolean {
    const driving = this.#timers.filter(({ drives }) => drives);
    if (driving.length === 0) return false;
    this.#now = Math.max(this.#now, Math.min(...driving.map(({ due }) => due)));
    const awake = this.#timers.filter(({ due }) => due <= this.#now);
    this.#timers = this.#timers.filter(({ due }) => due > this.#now);
    for (const { wake } of awake.toSorted((a, b) => a.due - b.due || a.number - b.number)) wake();
    this.stir();
    return true;
  }
}

// A world cannot replace closing and functions that were promisified before it began: they do not stop its time.
function isDiskAtWork(): boolean {
  return process.getActiveResourcesInfo().some((name) => /^(FSReq|CloseReq)/.test(name));
}
