import { createHmac, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { systemCodeOf } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { writeFlushed } from '../../base/files/durable.ts';
import { appendToOwnFileSync, readOwnFileSync } from '../../base/files/own-file.ts';
import { linkUnlessTaken } from '../../base/files/target.ts';
import type { Clock } from '../../base/system.ts';
import { type PacedRequest, SendLogs, type Slot, SLOT_LIFE_MS } from '../../client/http/pacer.ts';

const SECRET_BYTES = 32;
// A hundred busy processes add a quarter of this to a file.
const LARGEST_BYTES = 4 * 1024 * 1024;
const MOST_LINES = 25_000;
const DAY_MS = 86_400_000;

/**
 * Logs in files that every process of this user adds lines to, so that together they stay under the limits of a key. An
 * addition to a file is one whole, and its place among the others decides who came first: no lock is needed, and what a
 * loss of power spoils is left out. A file takes what is added in {@link SLOT_LIFE_MS}, so that the newest two tell all but long
 * holds: those are in the file of the day on which they end. Where the files cannot be read or written (anything but
 * regular files, links, files of megabytes), each process keeps to the limits for itself. Nothing in them is secret: a
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
    this.#tryFiles(request, (name, now) => {
      const line = `\n${JSON.stringify(slot)}`;
      appendToOwnFileSync(slotFile(name, periodOf(now)), line, LARGEST_BYTES);
      const { heldUntil = now } = slot;
      if (heldUntil - now > SLOT_LIFE_MS) appendToOwnFileSync(holdFile(name, dayOf(heldUntil)), line, LARGEST_BYTES);
    });
  }

  override read(request: PacedRequest, before?: string): readonly Slot[] {
    const slots = this.#tryFiles(request, (name, now) => [
      // A hold of the next 24 hours ends today or tomorrow.
      ...slotsIn(holdFile(name, dayOf(now)), now, undefined),
      ...slotsIn(holdFile(name, dayOf(now) + 1), now, undefined),
      ...slotsIn(slotFile(name, periodOf(now) - 1), now, before),
      ...slotsIn(slotFile(name, periodOf(now)), now, before),
    ]);
    return slots ? [...new Map(slots.map((slot) => [slot.id, slot])).values()] : super.read(request, before);
  }

  /** Gives the beginning of the names of a key's files, and the time. */
  #tryFiles<T>({ secret }: PacedRequest, use: (name: string, now: number) => T): T | undefined {
    if (!this.isShared || secret === undefined) return undefined;
    try {
      const name = this.#names.get(secret) ?? this.#nameOf(secret);
      this.#names.set(secret, name);
      const now = this.#clock.now();
      if (periodOf(now) !== this.#period) removeOld(this.#directory, now);
      this.#period = periodOf(now);
      return use(name, now);
    } catch {
      this.isShared = false;
      return undefined;
    }
  }

  #nameOf(key: string): string {
    const file = path.join(this.#directory, 'secret');
    if (!fs.existsSync(file)) createSecret(this.#directory, file);
    const secret = readOwnFileSync(file, SECRET_BYTES);
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

function periodOf(at: number): number {
  return Math.floor(at / SLOT_LIFE_MS);
}

function slotFile(name: string, period: number): string {
  return `${name}.${period}.log`;
}

function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

function holdFile(name: string, day: number): string {
  return `${name}.held-${day}.log`;
}

/** Removes the files of periods and days that are over, and those of earlier versions. */
function removeOld(directory: string, now: number): void {
  for (const name of fs.readdirSync(directory)) {
    const found = /^[0-9a-f]{32}\.(?:(?<period>\d+)\.log|held-(?<day>\d+)\.log|json.*)$/.exec(name);
    if (!found) continue;
    const { period = 0, day } = found.groups ?? {};
    const isInUse = day === undefined ? Number(period) >= periodOf(now) - 1 : Number(day) >= dayOf(now);
    if (isInUse) continue;
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
    const lines = readOwnFileSync(file, LARGEST_BYTES).toString('utf8').split('\n');
    if (lines.length > MOST_LINES) throw new Error('more lines than a command can read in a moment');
    return lines.slice(1);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function slotOf(line: string, latest: number): Slot | undefined {
  try {
    const slot = JSON.parse(line) as Slot;
    const { id, rules, sentAt, answeredAt = sentAt, heldUntil = sentAt } = slot;
    const isValid =
      typeof id === 'string' && Array.isArray(rules) && [sentAt, answeredAt, heldUntil].every(Number.isFinite);
    return isValid && sentAt <= latest && answeredAt <= latest ? slot : undefined;
  } catch {
    return undefined;
  }
}
