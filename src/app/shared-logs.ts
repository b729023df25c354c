import { createHmac, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { systemCodeOf } from '../errors.ts';
import { makeDirectory } from '../files/directory.ts';
import { linkUnlessTaken, whileBusy, writeFlushed } from '../files/path.ts';
import { type PacedRequest, SendLogs, type Slot, SLOT_LIFE_MS } from '../http/pacer.ts';
import type { Clock } from '../system.ts';

const SECRET_BYTES = 32;
/** For an hour, counted from this period. */
const LATEST_PERIOD = Math.ceil(3_600_000 / SLOT_LIFE_MS);

/**
 * Logs in files that every process of this user adds lines to, so that together they stay under the limits of a key. An
 * addition to a file is one whole, and its place among the others decides who came first: no lock is needed, and what a
 * loss of power spoils is left out. A file takes what is added in {@link SLOT_LIFE_MS}, so that the newest two tell all.
 * Where the files cannot be read or written, each process keeps to the limits for itself. Nothing in them is secret: a
 * file is named by an HMAC of service and key, with a random secret of the directory.
 */
export class SharedLogs extends SendLogs {
  override isShared = true;
  readonly #directory: string;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #baseUrl: URL;
  readonly #names = new Map<string, string>();
  #period = 0;

  constructor(directory: string, clock: Pick<Clock, 'now'>, baseUrl: URL) {
    super();
    this.#directory = directory;
    this.#clock = clock;
    this.#baseUrl = baseUrl;
  }

  override add(request: PacedRequest, slot: Slot): void {
    super.add(request, slot);
    // Each line begins with its end of line: one that was cut off spoils no other.
    this.#tryFiles(request, (fileOf, period) => {
      // What is held for longer than the newest two files tell is in later ones as well.
      const end = Math.floor((slot.heldUntil ?? 0) / SLOT_LIFE_MS);
      const last = Math.max(period, Math.min(end, period + LATEST_PERIOD));
      for (let at = period; at <= last; at += 1)
        whileBusy(() => fs.appendFileSync(fileOf(at), `\n${JSON.stringify(slot)}`, { mode: 0o600 }));
    });
  }

  override read(request: PacedRequest, before?: string): readonly Slot[] {
    const slots = this.#tryFiles(request, (fileOf, period) =>
      [period - 1, period].flatMap((at) => slotsIn(fileOf(at), this.#clock.now(), before)),
    );
    return slots ? [...new Map(slots.map((slot) => [slot.id, slot])).values()] : super.read(request, before);
  }

  /** Gives the files of a key, by period, and this period. */
  #tryFiles<T>({ secret }: PacedRequest, use: (fileOf: (at: number) => string, period: number) => T): T | undefined {
    if (!this.isShared || secret === undefined) return undefined;
    try {
      const name = this.#names.get(secret) ?? this.#nameOf(secret);
      this.#names.set(secret, name);
      const period = Math.floor(this.#clock.now() / SLOT_LIFE_MS);
      if (period !== this.#period) removeOld(this.#directory, period - 1);
      this.#period = period;
      return use((at) => `${name}.${at}.log`, period);
    } catch {
      this.isShared = false;
      return undefined;
    }
  }

  #nameOf(key: string): string {
    const file = path.join(this.#directory, 'secret');
    if (!fs.existsSync(file)) createSecret(this.#directory, file);
    const secret = fs.readFileSync(file);
    if (secret.length !== SECRET_BYTES) throw new Error('the secret of the directory is damaged');
    const name = createHmac('sha256', secret).update(`${this.#baseUrl.href}\0${key}`).digest('hex').slice(0, 32);
    return path.join(this.#directory, name);
  }
}

function createSecret(directory: string, file: string): void {
  makeDirectory(directory);
  const draft = `${file}.${randomBytes(4).toString('hex')}.new`;
  writeFlushed(draft, randomBytes(SECRET_BYTES));
  if (!linkUnlessTaken(draft, file)) fs.rmSync(draft);
}

/** Removes the files of periods before `first`, and those of earlier versions. */
function removeOld(directory: string, first: number): void {
  for (const name of fs.readdirSync(directory)) {
    const period = /^[0-9a-f]{32}\.(?:(\d+)\.log|json.*)$/.exec(name);
    if (!period || Number(period[1] ?? 0) >= first) continue;
    try {
      fs.rmSync(path.join(directory, name), { force: true });
    } catch {
      // Another process removes it as well, or will.
    }
  }
}

/** The slots in a file up to `before`, without what makes no sense or comes from before the clock was set back. */
function slotsIn(file: string, now: number, before: string | undefined): Slot[] {
  const slots = linesOf(file).flatMap((line) => slotOf(line, now + 1_000) ?? []);
  const end = slots.findIndex(({ id }) => id === before);
  return end === -1 ? slots : slots.slice(0, end);
}

function linesOf(file: string): readonly string[] {
  try {
    return whileBusy(() => fs.readFileSync(file, 'utf8'))
      .split('\n')
      .slice(1);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function slotOf(line: string, latest: number): Slot | undefined {
  try {
    const slot = JSON.parse(line) as Slot;
    const { id, rules, sentAt, answeredAt = sentAt, heldUntil = sentAt } = slot;
    const isValid = typeof id === 'string' && Array.isArray(rules) && Number.isFinite(heldUntil);
    return isValid && sentAt <= latest && answeredAt <= latest ? slot : undefined;
  } catch {
    return undefined;
  }
}
