// Limits the time of each stage of an exchange.

import { type Stage, TransportFailure } from './transport-failure.ts';

/** The time limits for the stages of one exchange, in milliseconds. */
export interface TimeLimits {
  /** For DNS, connection, TLS and a proxy's tunnel together. */
  readonly connect: number;
  /** From the last byte of the request to the headers of the response. */
  readonly headers: number;
  /** The longest silence while a body is sent or received. */
  readonly idle: number;
  /** For the whole body of a response; Infinity if its size has no limit. */
  readonly body: number;
}

export const API_LIMITS: TimeLimits = { connect: 10_000, headers: 30_000, idle: 30_000, body: 60_000 };

/** Limits for files: no limit on the whole body while bytes keep arriving. */
export const FILE_LIMITS: TimeLimits = { connect: 10_000, headers: 60_000, idle: 30_000, body: Infinity };

/** Reports when a stage of an exchange takes too long. One timer is for the current stage, and one for the whole body. */
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

  /** Called when the request is being sent. */
  sending(): void {
    if (!this.#over) this.stage = 'send';
    this.#arm(this.#limits.headers);
  }

  /** Called when a piece of the request's body was sent. */
  progress(): void {
    if (this.stage === 'send') this.#arm(Math.max(this.#limits.idle, this.#limits.headers));
  }

  /** Called when the headers of the response have arrived. */
  responding(): void {
    this.stage = 'body';
    this.#arm(this.#limits.idle);
    const { body } = this.#limits;
    if (!this.#over && Number.isFinite(body))
      this.#bodyTimer = setTimeout(() => this.#expire('its response was not complete within', body), body);
  }

  /** Called when a piece of the response's body has arrived. */
  received(): void {
    if (!this.#over) this.#timer?.refresh();
  }

  /** Stops all timers. Later calls start none, since a timer would keep the process alive. */
  stop(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#bodyTimer);
  }

  #arm(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#over) return;
    const words = this.stage === 'connect' ? 'no connection was made within' : 'it stayed silent within';
    this.#timer = setTimeout(() => this.#expire(words, ms), ms);
  }

  #expire(words: string, ms: number): void {
    this.stop();
    this.#onExpired(new TransportFailure('timeout', this.stage, `${words} ${ms / 1000} s`));
  }
}
