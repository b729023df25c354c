import fs from 'node:fs';
import path from 'node:path';
import { systemCodeOf, writeFailure } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { writeFileAtomicSync } from '../../base/files/draft.ts';
import { writeFlushed } from '../../base/files/durable.ts';
import { type LockHost, withLock } from '../../base/files/lock.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import type { Context } from '../../cli/app/command.ts';
import { serviceOf } from '../../cli/app/service.ts';
import type { Sent } from './part.ts';

/** Recorded until it is known that this machine made the claim of the job. */
const CLAIMING = 'claiming';

/** Returns the profile and the service of a command, as the records of uploads name them. */
export function senderOf(context: Pick<Context, 'settings'>): string {
  return `${context.settings.profile.value} ${serviceOf(context)}`;
}

/** Tells whether this machine may have sent the whole file of a job, as the records below the directories of its tenants say. */
export function mayHaveSent(tenants: string, job: string): boolean {
  const places = fs.existsSync(tenants) ? fs.readdirSync(tenants) : [];
  return places.some((place) => new SentFile(path.join(tenants, place), job).mayBeSent);
}

/** The record of how much of a file `au upload` sent to a job. No run records such an upload. */
export class SentFile {
  readonly #file: string;
  readonly #job: string;

  /** `directory` is where this machine remembers the job's tenant. */
  constructor(directory: string, job: string) {
    this.#file = path.join(directory, 'sent', encodeURIComponent(job));
    this.#job = job;
  }

  /** Whether the job may have the whole file. It may, unless the record says that only a part was sent. */
  get mayBeWhole(): boolean {
    return this.#read() !== 'some';
  }

  /**
   * Records, before the rows are claimed, that nothing was sent yet. Keeps what an earlier command recorded. Another machine
   * may claim the job first, so that this alone permits no upload. `sender` is the profile and the service of the command.
   */
  begin(sender: string): void {
    makeDirectory(path.dirname(this.#file));
    writeFileAtomicSync(`${this.#file}.by`, sender);
    try {
      writeFlushed(this.#file, CLAIMING);
    } catch (error) {
      if (systemCodeOf(error) !== 'EEXIST') throw writeFailure(this.#file, error);
    }
  }

  /** Tells whether this profile may have sent the file from this machine. */
  mayBeOf(sender: string): boolean {
    return this.#read() !== undefined && this.#read('.by') === sender;
  }

  /** Whether this machine may have sent the whole file. */
  get mayBeSent(): boolean {
    const recorded = this.#read();
    return recorded !== undefined && recorded !== 'some' && recorded !== CLAIMING;
  }

  /** Whether a command ended before it was known which machine made the claim, so that nothing was sent yet. */
  get isClaiming(): boolean {
    return this.#read() === CLAIMING;
  }

  /** Records that this machine made the claim, so that it may send the file. */
  claimed(): void {
    if (this.isClaiming) this.record('some');
  }

  /** Records how much was sent. */
  readonly record = (sent: Exclude<Sent, 'stored'>): void => {
    if (sent !== this.#read()) writeFileAtomicSync(this.#file, sent);
  };

  /** Runs `work` while no other process of this machine sends the file. @throws SvcError `config` if one does */
  hold<T>(host: LockHost, work: () => Promise<T>): Promise<T> {
    makeDirectory(path.dirname(this.#file));
    return withLock(`${this.#file}.lock`, host, work, { waitMs: 0, what: `the upload to job ${this.#job}` });
  }

  #read(suffix = ''): string | undefined {
    try {
      return readRegularFileSync(`${this.#file}${suffix}`);
    } catch {
      return undefined;
    }
  }
}
