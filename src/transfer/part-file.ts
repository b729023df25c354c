import { constants } from 'node:fs';
import fs from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { writeFailure } from '../errors.ts';
import { readRegularFileSync } from '../files/read-pipe.ts';
import { removeOrphanedTemporaries, writeFileAtomic } from '../files/replace.ts';
import type { Version } from './receive.ts';
import { Digests, type Sink } from './sink.ts';

const PIECE = 1024 * 1024;

/**
 * The partial file beside a target, and a note of which version of the object it begins: a later process can go on
 * with it. Both are 0600. Only for the holder of the target's lock.
 */
export class PartFile implements Sink {
  length = 0;
  version: Version | undefined;
  digests = new Digests();
  /** Where the bytes lie. */
  readonly path: string;
  #handle: FileHandle | undefined;
  #writer: WriteBehind | undefined;

  private constructor(target: string) {
    this.path = `${target}.svc-part`;
  }

  /** Opens what an earlier attempt left, if it can be trusted; else starts with nothing. */
  static async open(target: string): Promise<PartFile> {
    const part = new PartFile(target);
    removeOrphanedTemporaries(part.#note);
    await part.#adopt();
    return part;
  }

  /** Reads again what the file holds: hashes must be of the bytes on the disk. */
  async resume(): Promise<void> {
    this.digests = new Digests();
    const handle = this.#handle;
    if (!handle) return;
    await this.#guard(async () => this.#writer?.flush());
    // With the last byte still to come, even a whole partial file is checked against the store.
    const end = Math.min(this.length, (this.version?.total ?? 0) - 1);
    const buffer = Buffer.allocUnsafe(PIECE);
    this.length = 0;
    while (this.length < end) {
      const { bytesRead } = await handle.read(buffer, 0, Math.min(PIECE, end - this.length), this.length);
      if (bytesRead === 0) break;
      this.digests.update(buffer.subarray(0, bytesRead));
      this.length += bytesRead;
    }
    await this.#guard(() => handle.truncate(this.length));
    this.#writer = new WriteBehind(handle, this.length);
  }

  async begin(version: Version | undefined): Promise<void> {
    await this.discard();
    this.version = version;
    this.digests = new Digests();
    if (version) await writeResumeNote(this.#note, version);
    await this.#guard(async () => {
      this.#handle = await fs.open(this.path, 'wx+', 0o600);
      this.#writer = new WriteBehind(this.#handle, 0);
    });
  }

  async write(piece: Uint8Array): Promise<void> {
    await this.#guard(async () => this.#writer?.add(piece));
    this.digests.update(piece);
    this.length += piece.byteLength;
  }

  /** Makes the bytes durable and closes the file. */
  async seal(): Promise<void> {
    await this.#guard(async () => {
      await this.#writer?.flush();
      await this.#handle?.sync();
    });
    await this.close();
  }

  /** Gives the closed file another name, under which no download continues it. */
  async moveTo(path: string): Promise<void> {
    await this.#guard(() => fs.rename(this.path, path));
  }

  /** Removes the note once the bytes are in place. */
  async forget(): Promise<void> {
    await fs.rm(this.#note, { force: true });
  }

  /** Closes and keeps the file if a later attempt can go on with it, else removes it; says which. */
  async abandon(): Promise<boolean> {
    await this.#writer?.flush().catch(() => undefined);
    // What a full disk did not take is not there to go on from.
    this.length = (await this.#handle?.stat())?.size ?? this.length;
    const isKept = this.version !== undefined && this.length > 0;
    if (isKept) await this.close();
    else await this.discard();
    return isKept;
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    this.#writer = undefined;
    await handle?.close();
  }

  /** Removes the partial file first: a note without bytes harms nobody. */
  async discard(): Promise<void> {
    await this.close();
    this.version = undefined;
    this.length = 0;
    await this.#guard(() => fs.rm(this.path, { force: true }));
    await this.forget();
  }

  get #note(): string {
    return `${this.path}.json`;
  }

  async #adopt(): Promise<void> {
    const version = readResumeNote(this.#note);
    const handle = version && (await openOwn(this.path));
    if (!version || !handle) return;
    this.#handle = handle;
    this.length = (await handle.stat()).size;
    if (this.length > version.total) this.length = 0;
    else this.version = version;
  }

  async #guard(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw writeFailure(this.path, error);
    }
  }
}

/** Only a file of our own making: regular, not a link, and without a second name. */
async function openOwn(path: string): Promise<FileHandle | undefined> {
  const flags = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await fs.open(path, flags).catch(() => undefined);
  const stat = await handle?.stat();
  // A killed run may have linked it into place already: writing here would then write into the target.
  if (handle && stat?.isFile() && stat.nlink === 1) return handle;
  await handle?.close();
  return undefined;
}

/** Notes of which version a partial file is the beginning; 0600, whole or not at all. */
async function writeResumeNote(file: string, version: Version): Promise<void> {
  await writeFileAtomic(file, JSON.stringify({ format: 1, ...version }));
}

/** The version that was noted; undefined where there is no note, or none that makes sense. */
function readResumeNote(file: string): Version | undefined {
  try {
    const note: unknown = JSON.parse(readRegularFileSync(file));
    if (typeof note !== 'object' || note === null) return undefined;
    const { format, etag, total }: { format?: unknown; etag?: unknown; total?: unknown } = note;
    const isValid = format === 1 && typeof etag === 'string' && Number.isSafeInteger(total);
    return isValid && typeof total === 'number' ? { etag, total } : undefined;
  } catch {
    return undefined;
  }
}

const SIZE = 1024 * 1024;

/**
 * Writes a file in large pieces, one on its way to the disk while the next is gathered: small writes one by one are
 * what a download otherwise spends its time on. A failure shows at the next call.
 */
class WriteBehind {
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
