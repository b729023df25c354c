// The partial file of a download, which a later run continues.

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

/** Identifies one content of an object exactly, so that a download can be resumed later. */
export interface Version {
  /** A strong ETag, quotes included. */
  readonly etag: string;
  readonly total: number;
}

/** The running hashes of a partial file, in hexadecimal. MD5 takes twice as long as SHA-256, so it is computed only on demand. */
class Digests {
  readonly #sha256 = createHash('sha256');
  readonly #md5: Hash | undefined;

  constructor(hasMd5: boolean) {
    this.#md5 = hasMd5 ? createHash('md5') : undefined;
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
 * The partial file beside a target, and a note with the version of the object, so that a later process can resume the download.
 * The caller must have the lock of the target. Writes are synchronous, so that no piece of a body waits in memory.
 */
export class PartFile {
  length = 0;
  version: Version | undefined;
  digests = new Digests(false);
  readonly path: string;
  #fd: number | undefined;

  private constructor(target: string) {
    this.path = `${target}.svc-part`;
  }

  /** Opens the partial file of an earlier run, if svc created the file and its note is valid. Otherwise starts empty. */
  static open(target: string): PartFile {
    const part = new PartFile(target);
    removeOrphanedTemporaries(part.#note);
    part.#openEarlier();
    return part;
  }

  /** Hashes the bytes on the disk, and prepares the file for the bytes after them. */
  async resume(): Promise<void> {
    // Only the next response shows whether its ETag is an MD5.
    this.digests = new Digests(/^"[0-9a-f]{32}"$/i.test(this.version?.etag ?? ''));
    const fd = this.#fd;
    if (fd === undefined) return;
    // Leaves out the last byte, so that a request compares even a complete partial file with the store.
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

  /** Begins new content. A download without a version cannot be resumed. */
  begin(version: Version | undefined, hasMd5: boolean): void {
    this.discard();
    this.version = version;
    this.digests = new Digests(hasMd5);
    // Without the note, the next download starts from the beginning.
    if (version) writeFileAtomicSync(this.#note, JSON.stringify({ format: 1, ...version }), { isFlushed: false });
    this.#fd = this.#guard(() => fs.openSync(this.path, 'wx+', 0o600));
  }

  write(piece: Uint8Array): void {
    const fd = this.#fd;
    if (fd === undefined) throw new Error('the partial file is not open');
    this.#guard(() => {
      // On a nearly full disk, a write may be incomplete, and only the next write fails.
      for (let done = 0; done < piece.byteLength;)
        done += fs.writeSync(fd, piece, done, piece.byteLength - done, this.length + done);
    });
    this.digests.update(piece);
    this.length += piece.byteLength;
  }

  /** Flushes the bytes to the disk, and closes the file. @throws SvcError `local` if the disk has fewer bytes */
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

  /** Renames the closed file. A later download does not resume the renamed file. */
  moveTo(path: string): void {
    this.#guard(() => whileBusy(() => fs.renameSync(this.path, path)));
  }

  removeNote(): void {
    fs.rmSync(this.#note, { force: true });
  }

  /** Closes the file, and removes the file unless a later run can resume it. @returns whether the file was kept */
  keepOrRemove(): boolean {
    // A write on a full disk may have been incomplete.
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

  /** Removes the partial file, then its note. A note without a partial file does no harm. */
  discard(): void {
    this.close();
    this.version = undefined;
    this.length = 0;
    this.#guard(() => whileBusy(() => fs.rmSync(this.path, { force: true })));
    this.removeNote();
  }

  get #note(): string {
    return `${this.path}.json`;
  }

  #openEarlier(): void {
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

/** Opens a partial file for reading and writing; undefined if it is missing, irregular, a link, or has a second name. */
function openOwn(path: string): number | undefined {
  try {
    const fd = fs.openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fs.fstatSync(fd);
    // A killed run may have linked the file to the target already, and a write would change the target.
    if (stat.isFile() && stat.nlink === 1) return fd;
    fs.closeSync(fd);
  } catch {
    return undefined;
  }
  return undefined;
}

/** Returns the version in a note; undefined without a valid note. */
function readResumeNote(file: string): Version | undefined {
  try {
    const { format, etag, total } = JSON.parse(readRegularFileSync(file)) as Version & { format: number };
    const isValid = format === 1 && typeof etag === 'string' && Number.isSafeInteger(total);
    return isValid ? { etag, total } : undefined;
  } catch {
    return undefined;
  }
}
