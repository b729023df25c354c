import type { FileHandle } from 'node:fs/promises';

const SIZE = 1024 * 1024;

/**
 * Writes a file in large pieces, one on its way to the disk while the next is gathered: small writes one by one are
 * what a download otherwise spends its time on. A failure shows at the next call.
 */
export class WriteBehind {
  readonly #handle: FileHandle;
  #at: number;
  #gathering = Buffer.allocUnsafeSlow(SIZE);
  #spare = Buffer.allocUnsafeSlow(SIZE);
  #filled = 0;
  #writing: Promise<void> = Promise.resolve();

  /** Writes from the offset `at` on. */
  constructor(handle: FileHandle, at: number) {
    this.#handle = handle;
    this.#at = at;
  }

  /** Takes a copy of the piece. */
  async add(piece: Uint8Array): Promise<void> {
    for (let taken = 0; taken < piece.byteLength;) {
      const part = piece.subarray(taken, taken + SIZE - this.#filled);
      this.#gathering.set(part, this.#filled);
      this.#filled += part.byteLength;
      taken += part.byteLength;
      if (this.#filled === SIZE) await this.#send();
    }
  }

  /** Resolves once everything was handed to the system. */
  async flush(): Promise<void> {
    await this.#send();
    await this.#writing;
  }

  async #send(): Promise<void> {
    await this.#writing;
    const full = this.#gathering;
    const length = this.#filled;
    this.#gathering = this.#spare;
    this.#spare = full;
    this.#filled = 0;
    this.#writing = this.#write(full, length, this.#at);
    // The next call tells of a failure; until then it must not count as unhandled.
    this.#writing.catch(() => undefined);
    this.#at += length;
  }

  async #write(bytes: Buffer, length: number, at: number): Promise<void> {
    // A nearly full disk takes a part and says so; only the next write fails.
    for (let done = 0; done < length;)
      done += (await this.#handle.write(bytes, done, length - done, at + done)).bytesWritten;
  }
}
