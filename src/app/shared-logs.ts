import { createHmac, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../files/directory.ts';
import { type LockHost, withLock } from '../files/lock.ts';
import { whileBusy } from '../files/path.ts';
import { OwnLogs, type PacedRequest, type SendLog, type SendLogs } from '../http/pacer.ts';

const SECRET_BYTES = 32;
const LONGEST_WAIT_MS = 1_000;

/** Where processes share their logs, and this process. */
export interface SharedDirectory {
  readonly directory: string;
  readonly host: LockHost;
}

/**
 * Logs in files that every process of this user changes in turn, so that together they stay under the limits of a key.
 * Where the files cannot be read or written, each process keeps to the limits for itself. Nothing in them is secret: a
 * file is named by an HMAC of service and key, with a random secret of the directory.
 */
export class SharedLogs implements SendLogs {
  readonly #place: SharedDirectory;
  readonly #baseUrl: URL;
  readonly #own = new OwnLogs();
  #isBroken = false;

  constructor(place: SharedDirectory, baseUrl: URL) {
    this.#place = place;
    this.#baseUrl = baseUrl;
  }

  get isShared(): boolean {
    return !this.#isBroken;
  }

  async update<T>(request: PacedRequest, change: (log: SendLog) => T): Promise<T> {
    if (this.#isBroken || request.secret === undefined) return this.#own.update(request, change);
    const { directory, host } = this.#place;
    try {
      const file = path.join(directory, `${await this.#nameOf(request.secret)}.json`);
      return await withLock(`${file}.lock`, host, () => this.#change(file, request, change), {
        waitMs: LONGEST_WAIT_MS,
      });
    } catch {
      this.#isBroken = true;
      return this.#own.update(request, change);
    }
  }

  async #change<T>(file: string, request: PacedRequest, change: (log: SendLog) => T): Promise<T> {
    const log = readLog(file, this.#place.host.clock.now());
    const value = change(log);
    const draft = `${file}.new`;
    fs.writeFileSync(draft, JSON.stringify(log), { mode: 0o600 });
    whileBusy(() => fs.renameSync(draft, file));
    // What goes on alone after a failure must know what was sent.
    await this.#own.update(request, (own) => {
      own.slots = log.slots;
      Object.assign(own.heldUntil, log.heldUntil);
    });
    return value;
  }

  async #nameOf(key: string): Promise<string> {
    const { directory, host } = this.#place;
    const file = path.join(directory, 'secret');
    if (!fs.existsSync(file)) {
      makeDirectory(directory);
      await withLock(`${file}.lock`, host, () => createSecret(file), { waitMs: LONGEST_WAIT_MS });
    }
    const secret = fs.readFileSync(file);
    if (secret.length !== SECRET_BYTES) throw new Error('the secret of the directory is damaged');
    return createHmac('sha256', secret).update(`${this.#baseUrl.href}\0${key}`).digest('hex').slice(0, 32);
  }
}

function createSecret(file: string): void {
  if (fs.existsSync(file)) return;
  fs.writeFileSync(`${file}.new`, randomBytes(SECRET_BYTES), { mode: 0o600 });
  whileBusy(() => fs.renameSync(`${file}.new`, file));
}

/** The log in a file; an empty one where there is none that makes sense, or where the clock was set back since. */
function readLog(file: string, now: number): SendLog {
  try {
    const { slots, heldUntil } = JSON.parse(fs.readFileSync(file, 'utf8')) as SendLog;
    const isValid = slots.every(
      ({ id, rules, sentAt }) => typeof id === 'string' && Array.isArray(rules) && typeof sentAt === 'number',
    );
    if (isValid && slots.every(({ sentAt }) => sentAt <= now + 1_000)) return { slots, heldUntil: { ...heldUntil } };
  } catch {
    // Read as if nothing was sent.
  }
  return { slots: [], heldUntil: {} };
}
