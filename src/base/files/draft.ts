import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { SvcError, writeFailure, wrongSize } from '../errors.ts';
import type { System } from '../system.ts';
import { syncDirectory, whileBusy, writeFlushed } from './durable.ts';
import { processSpace } from './lock-owner.ts';
import { moveIntoPlace } from './target.ts';

const OWNER_ONLY = 0o600;
const BUFFER_BYTES = 64 * 1024;
/** The maximum number of bytes that one UTF-16 unit takes in UTF-8. */
const MAX_UNIT_BYTES = 3;

/** The size and hash of a finished draft. */
export interface SealedFile {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** How a file is written. */
export interface WriteOptions {
  /**
   * Whether to flush the file to the disk. An unflushed file is faster to write, but a loss of power may leave it empty or
   * missing: only for files that can be made again.
   */
  readonly isFlushed?: boolean;
}

/** The process that writes a draft, and a check whether other processes are alive. */
export type DraftWriter = Pick<System, 'pid' | 'isAlive'>;

/** Writes a private file, which appears complete or not at all. For `writer`, see `Draft.begin`. */
export async function writeWhole(
  target: string,
  force: boolean,
  fill: (draft: Draft) => Promise<void>,
  { isFlushed = true, writer }: WriteOptions & { readonly writer?: DraftWriter } = {},
): Promise<SealedFile> {
  const draft = await Draft.begin(target, writer);
  try {
    await fill(draft);
    return await (isFlushed ? draft.finish(force) : draft.replace());
  } finally {
    await draft.discard();
  }
}

/** A private file (0600) that is written piece by piece, and gets the name of its target only when it is complete. */
export class Draft {
  readonly path: string;
  readonly #target: string;
  readonly #handle: fs.promises.FileHandle;
  readonly #hash = createHash('sha256');
  // Encodes text at once: kept strings of a long list would fill the old generation of the heap.
  #waiting: Buffer | undefined;
  #length = 0;
  #bytes = 0;
  #sealed: SealedFile | undefined;
  #failure: SvcError | undefined;

  private constructor(target: string, draft: string, handle: fs.promises.FileHandle) {
    this.#target = target;
    this.path = draft;
    this.#handle = handle;
  }

  /**
   * Begins a draft beside its target, under a unique name. With `writer`, the name contains the process, and drafts of killed
   * processes are removed first. Files in a user's directory need a `writer`.
   * @throws SvcError `local`
   */
  static async begin(target: string, writer?: DraftWriter): Promise<Draft> {
    const draft = temporaryName(target, writer === undefined ? '' : `${writerName(writer.pid)}.`);
    try {
      if (writer !== undefined) removeAbandonedDrafts(target, writer);
      return new Draft(target, draft, await fs.promises.open(draft, 'wx', OWNER_ONLY));
    } catch (error) {
      throw writeFailure(target, error);
    }
  }

  /** Appends text or bytes. The caller must await each call. */
  async write(data: string | Uint8Array): Promise<void> {
    const maxBytes = typeof data === 'string' ? data.length * MAX_UNIT_BYTES : data.byteLength;
    if (maxBytes > BUFFER_BYTES - this.#length) await this.#flush();
    if (maxBytes >= BUFFER_BYTES) return this.#write(typeof data === 'string' ? Buffer.from(data) : data);
    this.#waiting ??= Buffer.allocUnsafeSlow(BUFFER_BYTES);
    if (typeof data === 'string') this.#length += this.#waiting.write(data, this.#length);
    else {
      this.#waiting.set(data, this.#length);
      this.#length += data.byteLength;
    }
  }

  /** Gives the draft the name of its target, replacing any file, without flushing. @throws SvcError `local` */
  async replace(): Promise<SealedFile> {
    const sealed = await this.seal({ isFlushed: false });
    whileBusy(() => fs.renameSync(this.path, this.#target));
    return sealed;
  }

  /** Flushes and closes the draft, which keeps its own name. @throws SvcError `local` */
  async seal({ isFlushed = true }: WriteOptions = {}): Promise<SealedFile> {
    if (this.#sealed) return this.#sealed;
    await this.#flush();
    this.#waiting = undefined;
    // A caller may have ignored the failure of a write.
    if (this.#failure) throw this.#failure;
    try {
      if (isFlushed) await this.#handle.sync();
      const { size } = await this.#handle.stat();
      if (size !== this.#bytes) throw wrongSize(this.#target, size, this.#bytes);
      await this.#handle.close();
    } catch (error) {
      throw writeFailure(this.#target, error);
    }
    this.#sealed = { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
    return this.#sealed;
  }

  /** Gives the draft the name of its target. @throws SvcError `usage` if the target exists without `overwrite`, else `local` */
  async finish(overwrite: boolean): Promise<SealedFile> {
    const sealed = await this.seal();
    if (!fs.existsSync(this.path)) throw removedDraft(this.#target);
    moveIntoPlace(this.path, this.#target, overwrite);
    return sealed;
  }

  /** Removes the draft. Does nothing after `finish`. */
  async discard(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
    await fs.promises.rm(this.path, { force: true });
  }

  async #flush(): Promise<void> {
    const length = this.#length;
    this.#length = 0;
    if (this.#waiting && length > 0) await this.#write(this.#waiting.subarray(0, length));
  }

  async #write(bytes: Uint8Array): Promise<void> {
    try {
      await this.#handle.writeFile(bytes);
    } catch (error) {
      this.#failure = writeFailure(this.#target, error);
      throw this.#failure;
    }
    this.#hash.update(bytes);
    this.#bytes += bytes.byteLength;
  }
}

function removedDraft(target: string): SvcError {
  return new SvcError('local', `${target} could not be written: another process removed what was to become of it`, {
    hint: 'See that no other command writes this file, then run the command again.',
  });
}

/**
 * Replaces a small file. A reader sees either the old or the new content, also after a loss of power if `isFlushed`. The
 * directory must exist. Replaces a symlink at `file` instead of following it. Ignores the umask.
 * @throws SvcError `local`, and leaves the old file as it was
 */
export function writeFileAtomicSync(
  file: string,
  data: string | Uint8Array,
  { mode = OWNER_ONLY, isFlushed = true }: WriteOptions & { readonly mode?: number } = {},
): void {
  const temporary = temporaryName(file);
  try {
    if (isFlushed) writeFlushed(temporary, data, mode);
    else fs.writeFileSync(temporary, data, { flag: 'wx', mode });
    whileBusy(() => fs.renameSync(temporary, file));
    if (isFlushed) syncDirectory(path.dirname(file));
  } catch (error) {
    removeQuietly(temporary);
    throw writeFailure(file, error);
  }
}

/**
 * Removes the temporary files of killed writers of `file`. The caller must hold the lock of all writers of `file`, since the
 * temporary file of a living writer looks the same.
 */
export function removeOrphanedTemporaries(file: string): void {
  const prefix = temporaryPrefix(file);
  const directory = path.dirname(file);
  for (const name of fs.readdirSync(directory)) {
    const isTemporary = name.startsWith(prefix) && /^[0-9a-f]{16}\.tmp$/.test(name.slice(prefix.length));
    if (isTemporary) removeQuietly(path.join(directory, name));
  }
}

/** Removes the drafts of a file whose writers were processes of this machine and have ended. */
export function removeAbandonedDrafts(target: string, writer: DraftWriter): void {
  const prefix = temporaryPrefix(target);
  const directory = path.dirname(target);
  for (const name of namesIn(directory)) {
    const [, owner, number] = (name.startsWith(prefix) && DRAFT.exec(name.slice(prefix.length))) || [];
    const pid = Number(number);
    const isAbandoned = owner === writerName(pid) && pid !== writer.pid && !writer.isAlive(pid);
    if (isAbandoned) removeQuietly(path.join(directory, name));
  }
}

const DRAFT = /^([0-9a-f]{8}-(\d+))\.[0-9a-f]{16}\.tmp$/;

/** Names a process together with its machine or container, because others use the same process numbers. */
function writerName(pid: number): string {
  return `${createHash('sha256').update(processSpace()).digest('hex').slice(0, 8)}-${pid}`;
}

function temporaryName(file: string, writer = ''): string {
  return path.join(path.dirname(file), `${temporaryPrefix(file)}${writer}${randomBytes(8).toString('hex')}.tmp`);
}

/** Returns how the names of a file's temporary files begin. A long name is cut, as a file system allows 255 bytes. */
function temporaryPrefix(file: string): string {
  return `.${Buffer.from(path.basename(file)).subarray(0, 200).toString()}.`;
}

/** Returns the names in a directory; none if it may be written but not listed. */
function namesIn(directory: string): string[] {
  try {
    return fs.readdirSync(directory);
  } catch {
    return [];
  }
}

function removeQuietly(file: string): void {
  try {
    fs.unlinkSync(file);
  } catch {
    // The file was never made, or is already gone.
  }
}

/** SHA-256 of bytes or of a text's bytes, hexadecimal. */
export function sha256Of(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}

/** SHA-256 of a stream, hexadecimal. */
export async function sha256OfAll(source: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of source) hash.update(piece);
  return hash.digest('hex');
}
