import type { TimeLimits } from './limits.ts';
import { TransportFailure, type Stage } from './transport-failure.ts';

/** Watches one exchange: one timer for the stage that it is in, one for the whole body. */
export class Watchdog {
  stage: Stage = 'connect';
  readonly #limits: TimeLimits;
  readonly #onExpired: (failure: TransportFailure) => void;
  #timer: NodeJS.Timeout | undefined;
  #bodyTimer: NodeJS.Timeout | undefined;
  #over = false;

  constructor(limits: TimeLimits, onExpired: (failure: TransportFailure) => void) {
    this.#limits = limits;
    this.#onExpired = onExpired;
    this.#arm(limits.connect);
  }

  /** The request goes out now. */
  sending(): void {
    if (!this.#over) this.stage = 'send';
    this.#arm(this.#limits.headers);
  }

  /** A piece of the request's body went out. */
  progress(): void {
    if (this.stage === 'send') this.#arm(Math.max(this.#limits.idle, this.#limits.headers));
  }

  /** The headers came; the body follows when its reader asks for it. */
  answered(): void {
    this.stage = 'body';
    clearTimeout(this.#timer);
    if (this.#over) return;
    if (Number.isFinite(this.#limits.body)) {
      this.#bodyTimer = setTimeout(
        () => this.#expire('its answer was not complete within', this.#limits.body),
        this.#limits.body,
      );
    }
  }

  /** The reader waits for the next piece: a slow reader is not a silent server. */
  waiting(): void {
    this.#arm(this.#limits.idle);
  }

  /** The piece came. */
  received(): void {
    clearTimeout(this.#timer);
  }

  /** The exchange is over. What the library still tells of it arms nothing: a timer would hold the process up. */
  stop(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#bodyTimer);
  }

  #arm(ms: number): void {
    clearTimeout(this.#timer);
    if (!this.#over) this.#timer = setTimeout(() => this.#expire(SILENCE[this.stage], ms), ms);
  }

  #expire(words: string, ms: number): void {
    this.stop();
    this.#onExpired(new TransportFailure('timeout', this.stage, `${words} ${ms / 1000} s`));
  }
}

const SILENCE: Record<Stage, string> = {
  connect: 'no connection was made within',
  send: 'it stayed silent within',
  headers: 'it stayed silent within',
  body: 'it stayed silent within',
};
