// The files that this machine keeps of a job: its rows, how far they were sent, and its results.

import fs from 'node:fs';
import path from 'node:path';
import { SvcError, writeFailure } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { type Draft, writeFileAtomicSync, writeWhole } from '../../base/files/draft.ts';
import { copyFlushed } from '../../base/files/durable.ts';
import { heldAsPending, isLocked, type LockHost, withLock } from '../../base/files/lock.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import type { Context } from '../../cli/app/command.ts';
import { serviceOf } from '../../cli/app/service.ts';
import type { UploadSource } from '../../client/transfer/source.ts';
import { folderOf } from '../../base/files/names.ts';

/**
 * How much of a file this machine sent to its job. `claiming`: nothing, while another machine may make the claim. `some`: at
 * most a useless part. `all`: all bytes may be out. `refused`: all bytes were, and the store had a file already. `stored`: the
 * store confirmed the file.
 */
export type Sent = 'claiming' | 'some' | 'all' | 'refused' | 'stored';

/** Returns the profile and the service of a command, as the files of a job name them. */
export function senderOf(context: Pick<Context, 'settings'>): string {
  return `${context.settings.profile.value} ${serviceOf(context)}`;
}

/** The files of a job on this machine. They let an upload continue; only the ledger says what is paid for. */
export class JobFiles {
  readonly directory: string;
  readonly job: string;

  /** `root` is the directory of the files of all jobs. */
  constructor(root: string, job: string) {
    this.directory = path.join(root, folderOf(job));
    this.job = job;
  }

  /** The path of the job's rows, with the header. */
  get request(): string {
    return path.join(this.directory, 'request.csv');
  }

  /** The path of the results, byte for byte. They have this name only once they are proven. */
  get results(): string {
    return path.join(this.directory, 'results.csv');
  }

  /** The SHA-256 of the kept results if the operator accepted them although a check failed. */
  get accepted(): string | undefined {
    try {
      return readRegularFileSync(this.#acceptedFile).trim();
    } catch {
      return undefined;
    }
  }

  /** Keeps results that the operator accepted, for the file and the cycle of the job. */
  accept(results: string, sha256: string): void {
    this.make();
    writeFileAtomicSync(this.#acceptedFile, `${sha256}\n`);
    this.makeRoom();
    copyFlushed(results, this.results);
    this.removeRefused();
  }

  /**
   * Removes a link or a pipe in the place of the results: it may lead to a file that nobody named as an output.
   * @throws SvcError `config` for a directory, `local` if it cannot be removed
   */
  makeRoom(): void {
    const { results } = this;
    const found = fs.lstatSync(results, { throwIfNoEntry: false });
    if (found === undefined || found.isFile()) return;
    if (found.isDirectory())
      throw new SvcError('config', `${results} is a directory`, { hint: 'Move it away and run the command again.' });
    try {
      fs.rmSync(results, { force: true });
    } catch (error) {
      throw writeFailure(results, error);
    }
  }

  /** Removes refused results, after a download was proven. */
  removeRefused(): void {
    fs.rmSync(`${this.results}.unproven`, { force: true });
  }

  get #acceptedFile(): string {
    return path.join(this.directory, 'accepted');
  }

  get #sentFile(): string {
    return path.join(this.directory, 'sent');
  }

  /** Whether this machine created the job, or keeps files of it. */
  get exists(): boolean {
    return fs.existsSync(this.directory);
  }

  /** How much this machine sent; undefined if it has no record of the upload. */
  get sent(): Sent | undefined {
    return SENT.find((each) => each === this.#read()[0]);
  }

  /** Tells whether a profile may have sent the file from this machine. */
  mayBeOf(sender: string): boolean {
    return this.#read()[1] === sender;
  }

  /** Whether the job may have the whole file. Only a record of a partial upload excludes it. */
  get mayBeWhole(): boolean {
    return this.sent !== 'some';
  }

  /** Whether this machine may have sent the whole file. */
  get mayBeSent(): boolean {
    return this.sent === 'all' || this.sent === 'refused' || this.sent === 'stored';
  }

  /** Keeps the rows of a job before they are claimed, and records how much was sent unless a record exists. */
  async begin(source: Pick<UploadSource, 'open'>, sender: string, sent: Sent): Promise<void> {
    if (this.sent !== undefined) return;
    makeDirectory(this.directory);
    const copy = async (draft: Draft): Promise<void> => {
      for await (const piece of source.open()) await draft.write(piece);
    };
    // Not flushed: readers compare the rows with the hash in the claim.
    await writeWhole(this.request, true, copy, { isFlushed: false });
    this.#write(sent, sender);
  }

  /** Records how much was sent. */
  readonly record = (sent: Sent): void => {
    const [recorded, sender = ''] = this.#read();
    if (sent !== recorded) this.#write(sent, sender);
  };

  /** Makes the directory of a job that only gets results here. */
  make(): void {
    makeDirectory(this.directory);
  }

  /** Removes all files of the job. */
  remove(): void {
    fs.rmSync(this.directory, { recursive: true, force: true });
  }

  /**
   * Runs `work` with the lock of the job's files.
   * @throws SvcError `pending` if a living process has the lock, `config` if that cannot be determined
   */
  async hold<T>(host: LockHost, work: () => Promise<T>): Promise<T> {
    this.make();
    return heldAsPending(withLock(this.#lock, host, work, { waitMs: 0, what: `job ${this.job}` }));
  }

  /** Tells whether a process that may be alive has the lock. */
  isHeld(host: Pick<LockHost, 'pid' | 'isAlive'>): boolean {
    return isLocked(this.#lock, host);
  }

  get #lock(): string {
    return path.join(this.directory, 'lock');
  }

  #write(sent: Sent, sender: string): void {
    // Without a record, this machine sends nothing to the job, which says itself whether it has its file. But a record from
    // before the last bytes would send all of them once more.
    writeFileAtomicSync(this.#sentFile, `${sent}\n${sender}\n`, { isFlushed: sent === 'all' });
  }

  #read(): readonly string[] {
    try {
      return readRegularFileSync(this.#sentFile).split('\n');
    } catch {
      return [];
    }
  }
}

const SENT: readonly Sent[] = ['claiming', 'some', 'all', 'refused', 'stored'];
