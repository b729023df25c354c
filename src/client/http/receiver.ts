// Receives one response from undici, and hands its body to a reader.

import type { Dispatcher } from 'undici';
import { TransportFailure } from './transport-failure.ts';
import type { Watchdog } from './watchdog.ts';

interface Head {
  readonly status: number;
  /** Headers by lower-case name; a repeated header has several values. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
}

export interface ReceiverOptions {
  readonly signal: AbortSignal | undefined;
  readonly watchdog: Pick<Watchdog, 'sending' | 'responding' | 'received' | 'stop'>;
  /** Called at the moment from which the server may have received the request. */
  readonly onSent?: (() => void) | undefined;
  /** Returns the error that broke the connection, if any. */
  readonly brokenBy?: (() => Error | undefined) | undefined;
}

/** The end of an exchange. Without `error`, the response arrived completely. */
interface End {
  readonly error?: unknown;
}

const MAX_WAITING = 64 * 1024 * 1024;

/**
 * Receives one response, and never pauses the connection: undici 7 ends the process when the server closes a paused connection
 * (undici's issue 5360). The reader must therefore take each piece of the body at once.
 */
export class Receiver implements Dispatcher.DispatchHandler {
  /** Rejects if no response arrives, and at once when the signal aborts: undici may take longer to end the exchange. */
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

  /** Ends the exchange with an error, and closes its connection. */
  giveUp(error: unknown): void {
    this.#waiting = [];
    this.#finish({ error });
    this.#controller?.abort(asError(error));
  }

  /** Stops listening to the signal, which may live much longer than the exchange. */
  stopListening(): void {
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
  }

  /**
   * Calls `take` with each piece of the body, and resolves at the end of the body. To be called once.
   * @throws the error that cut the body off, after the last piece; `TakeError` if `take` fails
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

  /** Discards the rest of the response, and closes its connection. To a reader that waits for the rest, the body is cut off. */
  drop(): void {
    const dropped = new TransportFailure('timeout', 'body', 'its response was not complete in time');
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
    // An interim response, such as 103, precedes the final response.
    if (status < 200) return;
    this.#options.watchdog.responding();
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
    const error = this.#options.brokenBy?.();
    this.#finish(error === undefined ? {} : { error });
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
   * Ends the exchange, unless it has ended. Until the reader knows of the end, a failure replaces a success, and the reader's own
   * failure replaces any other end (R70).
   */
  #finish(end: End): void {
    const isWorse = isFailure(end) && (!isFailure(this.#end) || isReaderFailure(end));
    if (this.#end === undefined || (!this.#isSettled && isWorse)) this.#end = end;
    this.#options.watchdog.stop();
    if (isFailure(end)) this.#rejectHead(end.error);
    this.#settle();
  }

  /** Reports the end to the reader, which by then has all pieces. */
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

/** The failure of the reader, such as a full disk, as opposed to a failure of the connection. */
export class TakeError extends Error {
  constructor(cause: unknown) {
    super('the body was not taken', { cause });
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted');
}

function ignore(): void {}
