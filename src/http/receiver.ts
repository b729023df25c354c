import type { Dispatcher } from 'undici';
import type { TimeLimits } from './retry.ts';
import { type Stage, TransportFailure } from './transport-failure.ts';

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

/** The bytes of a body; `complete` is false when there was more. */
export interface ReadBody {
  readonly bytes: Buffer;
  readonly complete: boolean;
}

/** Reads no further than `limit` bytes. What is left of the body is dropped with its connection. */
export function readUpTo(body: AsyncIterable<Uint8Array>, limit: number): Promise<ReadBody> {
  return gather(body, limit, () => false);
}

/** The same, but a body that breaks off or falls silent gives what came until then. */
export function readPartial(body: AsyncIterable<Uint8Array>, limit: number): Promise<ReadBody> {
  return gather(body, limit, (error) => error instanceof TransportFailure);
}

async function gather(
  body: AsyncIterable<Uint8Array>,
  limit: number,
  isEnough: (error: unknown) => boolean,
): Promise<ReadBody> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let complete = true;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.byteLength;
      complete = size <= limit;
      if (!complete) break;
    }
  } catch (error) {
    if (!isEnough(error)) throw error;
    complete = false;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, limit), complete };
}
