import fs from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../../base/files/directory.ts';
import { type Draft, writeFileAtomicSync, writeWhole } from '../../base/files/draft.ts';
import { copyFlushed } from '../../base/files/durable.ts';
import { isLocked, type LockHost, withLock } from '../../base/files/lock.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import type { Context } from '../../cli/app/command.ts';
import { serviceOf } from '../../cli/app/service.ts';
import type { UploadSource } from '../../client/transfer/source.ts';
import { folderOf } from '../../base/files/names.ts';

/**
 * How much of a file was sent to its job: nothing while it is not known which machine made the claim, a part that is of no
 * use, all of it, or all of it with the store's confirmation.
 */
export type Sent = 'claiming' | 'some' | 'all' | 'stored';

/** Returns the profile and the service of a command, as the files of a job name them. */
export function senderOf(context: Pick<Context, 'settings'>): string {
  return `${context.settings.profile.value} ${serviceOf(context)}`;
}

/**
 * What this machine keeps of a job: the rows that it sends, how much of them was sent, and the results. With the rows, an
 * upload can go on; what is paid for stands in the ledger alone.
 */
export class JobFiles {
  readonly directory: string;
  readonly job: string;

  /** `root` is the directory of the files of all jobs. */
  constructor(root: string, job: string) {
    this.directory = path.join(root, folderOf(job));
    this.job = job;
  }

  /** The path of the rows that were or are to be sent, header included. */
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

  /** Keeps results that the operator accepted, so that the file or cycle of the job can have them too. */
  accept(results: string, sha256: string): void {
    this.make();
    writeFileAtomicSync(this.#acceptedFile, `${sha256}\n`);
    copyFlushed(results, this.results);
    this.removeRefused();
  }

  /** Removes results that were refused, once there are others. */
  removeRefused(): void {
    fs.rmSync(`${this.results}.unproven`, { force: true });
  }

  get #acceptedFile(): string {
    return path.join(this.directory, 'accepted');
  }

  get #sentFile(): string {
    return path.join(this.directory, 'sent');
  }

  /** How much was sent from here; undefined if this machine has no part in the upload. */
  get sent(): Sent | undefined {
    return SENT.find((each) => each === this.#read()[0]);
  }

  /** Tells whether a profile may have sent the file from this machine. */
  mayBeOf(sender: string): boolean {
    return this.#read()[1] === sender;
  }

  /** Whether the job may have the whole file. It may, unless it is recorded that only a part was sent. */
  get mayBeWhole(): boolean {
    return this.sent !== 'some';
  }

  /** Whether this machine may have sent the whole file. */
  get mayBeSent(): boolean {
    return this.sent === 'all' || this.sent === 'stored';
  }

  /** Keeps the rows of a job and records how much of them was sent, before they are claimed. Keeps an earlier record. */
  async begin(source: Pick<UploadSource, 'open'>, sender: string, sent: Sent): Promise<void> {
    if (this.sent !== undefined) return;
    makeDirectory(this.directory);
    const copy = async (draft: Draft): Promise<void> => {
      for await (const piece of source.open()) await draft.write(piece);
    };
    // Whoever reads the rows compares them with the hash in their claim.
    await writeWhole(this.request, true, copy, { isFlushed: false });
    this.#write(sent, sender);
  }

  /** Records how much was sent. */
  readonly record = (sent: Sent): void => {
    const [recorded, sender = ''] = this.#read();
    if (sent !== recorded) this.#write(sent, sender);
  };

  /** Makes the directory, for results alone. */
  make(): void {
    makeDirectory(this.directory);
  }

  /** Removes all files of the job. */
  remove(): void {
    fs.rmSync(this.directory, { recursive: true, force: true });
  }

  /** Runs `work` while no other process of this machine sends the file. @throws SvcError `config` if one does */
  hold<T>(host: LockHost, work: () => Promise<T>): Promise<T> {
    this.make();
    return withLock(this.#lock, host, work, { waitMs: 0, what: `job ${this.job}` });
  }

  /** Tells whether a process of this machine, which may still be alive, sends the file. */
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

const SENT: readonly Sent[] = ['claiming', 'some', 'all', 'stored'];
