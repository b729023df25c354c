import type { Dispatcher } from 'undici';

/** The head of an answer. */
export interface Head {
  readonly status: number;
  /** By lower-case name; one that came several times has several values. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
}

// Read a little ahead: to stop and start the library for each piece costs more than to handle it.
const AHEAD = 256 * 1024;

/**
 * Receives one answer from the library. Its own handler makes a Node stream of each body, which doubles what a large
 * one costs; here the pieces wait in a row until they are taken.
 */
export class Receiver implements Dispatcher.DispatchHandler {
  /** Rejects when no answer comes, and as soon as the signal aborts: the library may need longer to let go. */
  readonly head: Promise<Head>;
  readonly #signal: AbortSignal;
  readonly #onSent: () => void;
  #resolve: (head: Head) => void = ignore;
  #reject: (error: unknown) => void = ignore;
  #abort: (reason?: Error) => void = ignore;
  #resume: () => void = ignore;
  #pieces: Uint8Array[] = [];
  #length = 0;
  #isHeld = false;
  #end: { readonly error?: unknown } | undefined;
  #wake: () => void = ignore;

  /** `onSent` is called at the moment from which the request may have reached the other side. */
  constructor(signal: AbortSignal, onSent: () => void) {
    this.#signal = signal;
    this.#onSent = onSent;
    this.head = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    signal.addEventListener('abort', () => this.#giveUp(signal.reason), { once: true });
  }

  /** The next piece that is there already. @throws what broke the body off, behind its last piece */
  take(): Uint8Array | undefined {
    const piece = this.#pieces.shift();
    if (piece !== undefined) this.#length -= piece.byteLength;
    else if (this.#end !== undefined && 'error' in this.#end) throw this.#end.error;
    if (this.#isHeld && this.#length < AHEAD) {
      this.#isHeld = false;
      this.#resume();
    }
    return piece;
  }

  /** Whether all of the body was taken. */
  get isOver(): boolean {
    return this.#pieces.length === 0 && this.#end !== undefined && !('error' in this.#end);
  }

  /** Resolves when `take` or `isOver` have something new to tell. */
  more(): Promise<void> {
    if (this.#pieces.length > 0 || this.#end !== undefined) return Promise.resolve();
    return new Promise((resolve) => (this.#wake = resolve));
  }

  /** Drops what has not come yet, and its connection. */
  drop(): void {
    if (this.#end === undefined) this.#giveUp(new Error('dropped'));
    this.#pieces = [];
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.#abort = abort;
    if (this.#signal.aborted) abort(this.#signal.reason as Error);
    else this.#onSent();
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    this.#resume = resume;
    // An interim answer is none.
    if (status >= 200) this.#resolve({ status, headers: headersOf(raw) });
    return true;
  }

  onData(piece: Buffer): boolean {
    if (this.#end !== undefined) return true;
    this.#pieces.push(piece);
    this.#length += piece.byteLength;
    this.#wake();
    this.#isHeld = this.#length >= AHEAD;
    return !this.#isHeld;
  }

  onComplete(): void {
    this.#end ??= {};
    this.#wake();
  }

  onError(error: Error): void {
    this.#end ??= { error };
    this.#reject(error);
    this.#wake();
  }

  /** What came is of no use any more. */
  #giveUp(reason: unknown): void {
    this.#pieces = [];
    this.#end ??= { error: reason };
    this.#reject(reason);
    this.#wake();
    this.#abort(reason instanceof Error ? reason : undefined);
  }
}

function headersOf(raw: readonly Buffer[]): Map<string, string[]> {
  const headers = new Map<string, string[]>();
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = latin1(raw[at]).toLowerCase();
    const values = headers.get(name);
    if (values) values.push(latin1(raw[at + 1]));
    else headers.set(name, [latin1(raw[at + 1])]);
  }
  return headers;
}

function latin1(bytes: Buffer | undefined): string {
  return bytes?.toString('latin1') ?? '';
}

function ignore(): void {}
