import { createHash, type Hash } from 'node:crypto';
import fs from 'node:fs';
import { constants } from 'node:fs';
import { promisify } from 'node:util';
import { writeFailure, wrongSize } from '../../base/errors.ts';
import { removeOrphanedTemporaries, writeFileAtomicSync } from '../../base/files/draft.ts';
import { whileBusy } from '../../base/files/durable.ts';
import { readRegularFileSync } from '../../base/files/read.ts';

const PIECE = 1024 * 1024;

const read = promisify(fs.read);
const sync = promisify(fs.fsync);

/** Names one content of an object exactly: enough to resume it later. */
export interface Version {
  /** A strong ETag, quotes included. */
  readonly etag: string;
  /** Size of the object in bytes. */
  readonly total: number;
}

/**
 * The running hashes of what a sink contains, in hex. MD5 takes twice as long as SHA-256: only where an ETag may be one. A
 * thread of its own takes 35 ms to start, and both hashes of 30 MB 53: it saved nothing, for half as much processor time again.
 */
class Digests {
  readonly #sha256 = createHash('sha256');
  readonly #md5: Hash | undefined;

  constructor(etag: string | undefined) {
    this.#md5 = etag === undefined || !/^"[0-9a-f]{32}"$/i.test(etag) ? undefined : createHash('md5');
  }

  update(piece: Uint8Array): void {
    this.#sha256.update(piece);
    this.#md5?.update(piece);
  }

  sha256(): string {
    return this.#sha256.copy().digest('hex');
  }

  md5(): string | undefined {
    return this.#md5?.copy().digest('hex');
  }
}

/**
 * The partial file beside a target, and a note of which version of the object it begins: a later process can resume
 * it. Both are 0600. Only for the holder of the target's lock. Opening and writing are synchronous, so that no piece
 * of a body has to wait in memory; a disk slower than the network holds the network back.
 */
export class PartFile {
  length = 0;
  version: Version | undefined;
  digests = new Digests(undefined);
  readonly path: string;
  #fd: number | undefined;

  private constructor(target: string) {
    this.path = `${target}.svc-part`;
  }

  /** Opens what an earlier attempt left, if it can be trusted; else starts with nothing. */
  static open(target: string): PartFile {
    const part = new PartFile(target);
    removeOrphanedTemporaries(part.#note);
    part.#adopt();
    return part;
  }

  /** Rereads the file: hashes must be of the bytes on the disk. */
  async resume(): Promise<void> {
    this.digests = new Digests(this.version?.etag);
    const fd = this.#fd;
    if (fd === undefined) return;
    // With the last byte still to come, even a whole partial file is checked against the store.
    const end = Math.min(this.length, (this.version?.total ?? 0) - 1);
    const buffer = Buffer.allocUnsafe(PIECE);
    this.length = 0;
    while (this.length < end) {
      const { bytesRead } = await read(fd, buffer, 0, Math.min(PIECE, end - this.length), this.length);
      if (bytesRead === 0) break;
      this.digests.update(buffer.subarray(0, bytesRead));
      this.length += bytesRead;
    }
    this.#guard(() => fs.ftruncateSync(fd, this.length));
  }

  /** `etag` is that of what comes now, also where it names no version that could be resumed. */
  begin(version: Version | undefined, etag = version?.etag): void {
    this.discard();
    this.version = version;
    this.digests = new Digests(etag);
    if (version) writeFileAtomicSync(this.#note, JSON.stringify({ format: 1, ...version }));
    this.#fd = this.#guard(() => fs.openSync(this.path, 'wx+', 0o600));
  }

  write(piece: Uint8Array): void {
    const fd = this.#fd;
    if (fd === undefined) throw new Error('the partial file is not open');
    this.#guard(() => {
      // A nearly full disk takes a part and says so; only the next write fails.
      for (let done = 0; done < piece.byteLength;)
        done += fs.writeSync(fd, piece, done, piece.byteLength - done, this.length + done);
    });
    this.digests.update(piece);
    this.length += piece.byteLength;
  }

  /** Makes the bytes durable and closes the file. @throws SvcError `local` when the disk lacks any of them */
  async seal(): Promise<void> {
    const fd = this.#fd;
    if (fd === undefined) return;
    try {
      await sync(fd);
    } catch (error) {
      throw writeFailure(this.path, error);
    }
    const { size } = fs.fstatSync(fd);
    if (size !== this.length) throw wrongSize(this.path, size, this.length);
    this.close();
  }

  /** Gives the closed file another name, under which no download resumes it. */
  moveTo(path: string): void {
    this.#guard(() => whileBusy(() => fs.renameSync(this.path, path)));
  }

  /** Removes the note once the bytes are in place. */
  forget(): void {
    fs.rmSync(this.#note, { force: true });
  }

  /** Closes and keeps the file if a later attempt can resume it, else removes it; returns which. */
  abandon(): boolean {
    // A full disk may have taken a part of a piece.
    if (this.#fd !== undefined) this.length = fs.fstatSync(this.#fd).size;
    const isKept = this.version !== undefined && this.length > 0;
    if (isKept) this.close();
    else this.discard();
    return isKept;
  }

  close(): void {
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd !== undefined) fs.closeSync(fd);
  }

  /** Removes the partial file first: a note without bytes does no harm. */
  discard(): void {
    this.close();
    this.version = undefined;
    this.length = 0;
    this.#guard(() => whileBusy(() => fs.rmSync(this.path, { force: true })));
    this.forget();
  }

  get #note(): string {
    return `${this.path}.json`;
  }

  #adopt(): void {
    const version = readResumeNote(this.#note);
    const fd = version && openOwn(this.path);
    if (!version || fd === undefined) return;
    this.#fd = fd;
    this.length = fs.fstatSync(fd).size;
    if (this.length > version.total) this.length = 0;
    else this.version = version;
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw writeFailure(this.path, error);
    }
  }
}

/** Only a file of our own making: regular, not a link, and without a second name. */
function openOwn(path: string): number | undefined {
  try {
    const fd = fs.openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fs.fstatSync(fd);
    // A killed run may have linked it into place already: writing here would then write into the target.
    if (stat.isFile() && stat.nlink === 1) return fd;
    fs.closeSync(fd);
  } catch {
    return undefined;
  }
  return undefined;
}

/** The version that was noted; undefined where there is no note, or none that makes sense. */
function readResumeNote(file: string): Version | undefined {
  try {
    const { format, etag, total } = JSON.parse(readRegularFileSync(file)) as Version & { format: number };
    const isValid = format === 1 && typeof etag === 'string' && Number.isSafeInteger(total);
    return isValid ? { etag, total } : undefined;
  } catch {
    return undefined;
  }
}
