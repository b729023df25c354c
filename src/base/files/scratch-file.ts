import fs from 'node:fs/promises';
import { readFailure, writeFailure, wrongSize } from '../errors.ts';

/** A private file (0600) that is written and read in pieces while it is open. Its owner removes it. */
export class ScratchFile {
  readonly #path: string;
  readonly #file: fs.FileHandle;
  #size = 0;

  private constructor(path: string, file: fs.FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  /** Creates a file. @throws SvcError `local` */
  static async create(path: string): Promise<ScratchFile> {
    const file = await fs.open(path, 'wx+', 0o600).catch((error: unknown) => {
      throw writeFailure(path, error);
    });
    return new ScratchFile(path, file);
  }

  /** Appends pieces. Returns the offset of the first one, in bytes. @throws SvcError `local` */
  async append(pieces: readonly Int32Array[]): Promise<number> {
    const at = this.#size;
    this.#size += pieces.reduce((bytes, piece) => bytes + piece.byteLength, 0);
    const { bytesWritten } = await this.#file.writev(pieces).catch((error: unknown) => {
      throw writeFailure(this.#path, error);
    });
    if (at + bytesWritten !== this.#size) throw wrongSize(this.#path, at + bytesWritten, this.#size);
    return at;
  }

  /** Fills `words` from an offset in bytes. @throws SvcError `local`, also for a file that is shorter */
  async read(at: number, words: Int32Array): Promise<void> {
    const { bytesRead } = await this.#file.read(words, 0, words.byteLength, at).catch((error: unknown) => {
      throw readFailure(this.#path, error);
    });
    if (bytesRead !== words.byteLength) throw wrongSize(this.#path, at + bytesRead, this.#size);
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
