import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { writeFailure } from '../errors.ts';
import { moveIntoPlace } from './target.ts';

const BUFFERED = 64 * 1024;
/** The most bytes of UTF-8 that one unit of a string becomes. */
const WIDEST = 3;

/** A file that is written piece by piece, private (0600), and appears whole or not at all. */
export class WholeFile {
  readonly #path: string;
  readonly #draft: string;
  readonly #handle: FileHandle;
  // Text is encoded as it comes: kept as strings, that of a long list would move among the lasting objects.
  readonly #waiting = Buffer.allocUnsafeSlow(BUFFERED);
  #length = 0;

  private constructor(target: string, draft: string, handle: FileHandle) {
    this.#path = target;
    this.#draft = draft;
    this.#handle = handle;
  }

  /** Begins a file beside the place where it will stand. @throws SvcError `local` */
  static async begin(target: string): Promise<WholeFile> {
    const name = `.${path.basename(target)}.${randomBytes(8).toString('hex')}.tmp`;
    const draft = path.join(path.dirname(target), name);
    try {
      return new WholeFile(target, draft, await fs.open(draft, 'wx', 0o600));
    } catch (error) {
      throw writeFailure(target, error);
    }
  }

  /** Takes in text; what it gives is to be waited for. */
  async write(text: string): Promise<void> {
    if (text.length * WIDEST > BUFFERED - this.#length) await this.#flush();
    if (text.length * WIDEST > BUFFERED) await this.#write(text);
    else this.#length += this.#waiting.write(text, this.#length);
  }

  /** Gives the file its name. @throws SvcError `usage` when it is taken and may not be overwritten, else `local` */
  async finish(overwrite: boolean): Promise<void> {
    await this.#flush();
    try {
      await this.#handle.sync();
      await this.#handle.close();
    } catch (error) {
      throw writeFailure(this.#path, error);
    }
    await moveIntoPlace(this.#draft, this.#path, overwrite);
  }

  /** Leaves nothing behind; after `finish` it does nothing. */
  async discard(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
    await fs.rm(this.#draft, { force: true });
  }

  async #flush(): Promise<void> {
    const length = this.#length;
    this.#length = 0;
    await this.#write(this.#waiting.subarray(0, length));
  }

  async #write(data: string | Uint8Array): Promise<void> {
    try {
      await this.#handle.writeFile(data);
    } catch (error) {
      throw writeFailure(this.#path, error);
    }
  }
}
