import { PassThrough, Writable } from 'node:stream';
import type { Clock, InputStream, OutputStream } from '../../../src/base/system.ts';
import { Output } from '../../../src/cli/output/output.ts';

/** An output stream that keeps what it takes; a terminal where `columns` is given. */
export class Sink extends Writable {
  readonly isTTY: boolean;
  columns: number;
  text = '';

  constructor(columns?: number) {
    super({ decodeStrings: false });
    this.isTTY = columns !== undefined;
    this.columns = columns ?? 0;
  }

  override _write(chunk: string, _encoding: BufferEncoding, taken: (error?: Error) => void): void {
    this.text += chunk;
    taken();
  }
}

/** An output stream whose every write fails with this code. */
export function brokenStream(code: string): OutputStream {
  return new Writable({
    write: (_chunk, _encoding, taken) => taken(Object.assign(new Error(`write ${code}`), { code })),
  });
}

/** An output over a stream, with nothing to redact. */
export function outputOver(stream: OutputStream): Output {
  return new Output(stream, { name: 'standard output', redact: (text) => text });
}

/** An input stream, a terminal's or not. */
export function inputStream(isTTY: boolean): InputStream {
  return Object.assign(new PassThrough(), { isTTY });
}

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
  #now = 0;
  #sleepers: { readonly at: number; readonly wake: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => reject(signal?.reason as Error);
      const wake = (): void => {
        signal?.removeEventListener('abort', stop);
        resolve();
      };
      this.#sleepers.push({ at: this.#now + ms, wake });
      signal?.addEventListener('abort', stop, { once: true });
    });
  }

  /** Moves the time on, waking each sleeper when its time has come. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const next = this.#sleepers.toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > end) break;
      this.#sleepers = this.#sleepers.filter((sleeper) => sleeper !== next);
      this.#now = next.at;
      next.wake();
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    this.#now = end;
  }
}
