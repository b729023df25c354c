import type { Dispatcher } from 'undici';
import type { TimeLimits } from './retry.ts';
import { type Stage, TransportFailure } from './transport-failure.ts';

interface Head {
  readonly status: number;
  /** Headers by lower-case name; a repeated header has several values. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
}

/** The facts of an exchange that its receiver needs. */
export interface ReceiverOptions {
  readonly signal: AbortSignal | undefined;
  readonly watchdog: Pick<Watchdog, 'sending' | 'answered' | 'received' | 'stop'>;
  /** Called at the moment from which the server may have received the request. */
  readonly onSent?: (() => void) | undefined;
  /** The error that broke the connection, if any did. */
  readonly brokenBy?: (() => Error | undefined) | undefined;
}

/** How an exchange ended: with an error, or well. */
interface End {
  readonly error?: unknown;
}

/** The most bytes kept in memory until the reader begins. */
const MAX_WAITING = 64 * 1024 * 1024;

/**
 * Receives one response. The connection is never paused: pieces go to the reader as they come, and the reader takes
 * each at once, into memory within a bound or into a file. undici 7 ends the process when the peer closes a connection
 * that is paused (its issue 5360).
 */
export class Receiver implements Dispatcher.DispatchHandler {
  /** Rejects when no response comes, and as soon as the signal aborts: undici may need longer to let go. */
  readonly head: Promise<Head>;
  readonly #options: ReceiverOptions;
  readonly #onAbort = (): void => this.giveUp(this.#options.signal?.reason);
  #resolveHead: (head: Head) => void = ignore;
  #rejectHead: (error: unknown) => void = ignore;
  #controller: Dispatcher.DispatchController | undefined;
  #reader: { take(piece: Uint8Array): void; resolve(): void; reject(error: unknown): void } | undefined;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #end: End | undefined;
  #isSettled = false;

  constructor(options: ReceiverOptions) {
    this.#options = options;
    this.head = new Promise((resolve, reject) => {
      this.#resolveHead = resolve;
      this.#rejectHead = reject;
    });
    options.signal?.addEventListener('abort', this.#onAbort);
  }

  /** Ends the exchange with an error; the rest of the body is not needed. */
  giveUp(error: unknown): void {
    this.#waiting = [];
    this.#finish({ error });
    this.#controller?.abort(asError(error));
  }

  /** Called when the exchange is over: its signal may live much longer. */
  stopListening(): void {
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
  }

  /**
   * Hands every piece of the body to `take` as it comes; resolves at its end. To be called once.
   * @throws what broke the body off, behind its last piece; what `take` throws
   */
  receive(take: (piece: Uint8Array) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#reader = { take, resolve, reject };
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const piece of waiting) this.#hand(piece);
      this.#settle();
    });
  }

  /** Discards the rest of the response and its connection. */
  drop(): void {
    const dropped = new Error('dropped');
    if (this.#end === undefined) this.giveUp(dropped);
    else this.#finish({ error: dropped });
    this.#waiting = [];
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const { watchdog, onSent } = this.#options;
    this.#controller = controller;
    if (isFailure(this.#end)) return controller.abort(asError(this.#end.error));
    watchdog.sending();
    onSent?.();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // An interim response, such as 103, is not the response.
    if (status < 200) return;
    this.#options.watchdog.answered();
    const values = new Map<string, readonly string[]>();
    for (const [name, value = []] of Object.entries(headers))
      values.set(name, typeof value === 'string' ? [value] : value);
    this.#resolveHead({ status, headers: values });
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Uint8Array): void {
    if (this.#end !== undefined) return;
    if (this.#reader) this.#hand(piece);
    else this.#keep(piece);
    if (this.#end === undefined) this.#options.watchdog.received();
  }

  onResponseEnd(): void {
    // undici mistakes a broken connection for the end of a body without a length.
    const broken = this.#options.brokenBy?.();
    this.#finish(broken === undefined ? {} : { error: broken });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#finish({ error });
  }

  #keep(piece: Uint8Array): void {
    this.#waiting.push(piece);
    this.#waitingBytes += piece.byteLength;
    if (this.#waitingBytes > MAX_WAITING)
      this.giveUp(new TransportFailure('timeout', 'body', 'its response was not read in time'));
  }

  #hand(piece: Uint8Array): void {
    if (isReaderFailure(this.#end)) return;
    try {
      this.#reader?.take(piece);
    } catch (error) {
      this.giveUp(new TakeError(error));
    }
  }

  /**
   * The one place that ends an exchange. A body may be complete before its reader has taken it, so a failure until then
   * replaces a success, and the reader's own failure replaces any other end (R70).
   */
  #finish(end: End): void {
    const isWorse = isFailure(end) && (!isFailure(this.#end) || isReaderFailure(end));
    if (this.#end === undefined || (!this.#isSettled && isWorse)) this.#end = end;
    this.#options.watchdog.stop();
    if (isFailure(end)) this.#rejectHead(end.error);
    this.#settle();
  }

  /** Reports the end to the reader after every piece was delivered. */
  #settle(): void {
    if (this.#end === undefined || this.#reader === undefined || this.#isSettled) return;
    this.#isSettled = true;
    if (isFailure(this.#end)) this.#reader.reject(this.#end.error);
    else this.#reader.resolve();
  }
}

function isFailure(end: End | undefined): end is Required<End> {
  return end !== undefined && 'error' in end;
}

function isReaderFailure(end: End | undefined): boolean {
  return isFailure(end) && end.error instanceof TakeError;
}

/** The failure of a body's reader, such as a full disk, as opposed to one of the connection. */
export class TakeError extends Error {
  constructor(cause: unknown) {
    super('the body was not taken', { cause });
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted');
}

function ignore(): void {}

/** Limits the time of one exchange, with a timer for the current stage and one for the whole body. */
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

  /** Called when the headers arrived. */
  answered(): void {
    this.stage = 'body';
    this.#arm(this.#limits.idle);
    const { body } = this.#limits;
    if (!this.#over && Number.isFinite(body))
      this.#bodyTimer = setTimeout(() => this.#expire('its response was not complete within', body), body);
  }

  /** Called when a piece of the body arrived. */
  received(): void {
    if (!this.#over) this.#timer?.refresh();
  }

  /** Ends the watch. Later events of undici start no timer, which would keep the process alive. */
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

/** The bytes of a body. */
export interface ReadBody {
  readonly bytes: Buffer;
  /** False when there was more than the limit, or the body broke off. */
  readonly complete: boolean;
  /** The failure that cut the body off. */
  readonly failure?: TransportFailure | undefined;
}

/** Hands a body on, piece by piece. */
export type Receive = (take: (piece: Uint8Array) => void) => Promise<void>;

const TOO_LONG = new Error('the body is longer than its limit');

/**
 * Reads at most `limit` bytes; the rest of the body is discarded with its connection. A body that breaks off or stalls
 * gives what arrived until then.
 */
export async function readBody(receive: Receive, limit: number): Promise<ReadBody> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  let failure: TransportFailure | undefined;
  try {
    await receive((piece) => {
      pieces.push(piece);
      size += piece.byteLength;
      if (size > limit) throw TOO_LONG;
    });
  } catch (error) {
    if (error instanceof TransportFailure) failure = error;
    else if (error !== TOO_LONG) throw error;
  }
  const complete = failure === undefined && size <= limit;
  return { bytes: Buffer.concat(pieces).subarray(0, limit), complete, failure };
}
