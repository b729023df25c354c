import { createHmac, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { systemCodeOf } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { writeFlushed } from '../../base/files/durable.ts';
import { appendToOwnFileSync, readOwnFileSync } from '../../base/files/own-file.ts';
import { linkUnlessTaken } from '../../base/files/target.ts';
import type { Clock } from '../../base/system.ts';
import { type PacedRequest, RateLedger, type LedgerEntry, ENTRY_LIFE_MS } from '../../client/http/pacer.ts';
import { DAY_MS } from '../../schema/durations.ts';

const SECRET_BYTES = 32;
// A hundred busy processes fill a quarter of this.
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_LINES = 25_000;

/**
 * A ledger of requests in files that all processes of this user share, so that together they stay under a key's rate limits.
 *
 * A process appends each line in one write, and the order of lines is the order of requests, so no lock is needed. Readers
 * skip damaged lines. A file covers {@link ENTRY_LIFE_MS}, so the newest two files contain every entry that still counts. A
 * long hold is also written to the file of the day on which the hold ends. If the files are unusable (links, special files,
 * several megabytes), each process counts alone. The files contain no secrets: their names are an HMAC of service and key,
 * under a random secret of the directory.
 */
export class SharedRateLedger extends RateLedger {
  override isShared = true;
  readonly #directory: string;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #baseUrl: URL;
  readonly #names = new Map<string, string>();
  /** The lines read so far of each file. A long list reads the files hundreds of times, and processes only append to them. */
  readonly #files = new Map<string, ReadLines>();
  #period = 0;

  constructor(directory: string, clock: Pick<Clock, 'now'>, baseUrl: URL) {
    super();
    this.#directory = directory;
    this.#clock = clock;
    this.#baseUrl = baseUrl;
  }

  override add(request: PacedRequest, entry: LedgerEntry): void {
    super.add(request, entry);
    // The newline comes first, so that a line that was cut off does not damage the next one.
    this.#tryFiles(request, (name, now) => {
      const line = `\n${JSON.stringify(entry)}`;
      appendToOwnFileSync(entryFile(name, periodOf(now)), line, MAX_FILE_BYTES);
      const { heldUntil = now } = entry;
      if (heldUntil - now > ENTRY_LIFE_MS) appendToOwnFileSync(holdFile(name, dayOf(heldUntil)), line, MAX_FILE_BYTES);
    });
  }

  override read(request: PacedRequest, before?: string): readonly LedgerEntry[] {
    const entries = this.#tryFiles(request, (name, now) => [
      // A hold lasts at most 24 hours, so it ends today or tomorrow.
      ...this.#entriesIn(holdFile(name, dayOf(now)), now, undefined),
      ...this.#entriesIn(holdFile(name, dayOf(now) + 1), now, undefined),
      ...this.#entriesIn(entryFile(name, periodOf(now) - 1), now, before),
      ...this.#entriesIn(entryFile(name, periodOf(now)), now, before),
    ]);
    return entries ? [...new Map(entries.map((entry) => [entry.id, entry])).values()] : super.read(request, before);
  }

  /** Reads the entries of a file up to the entry `end`. Skips invalid entries and entries with a future time. */
  #entriesIn(file: string, now: number, end: string | undefined): LedgerEntry[] {
    const bytes = bytesIn(file);
    const before = this.#files.get(file);
    const read = before === undefined || before.bytes > bytes.length ? { lines: 0, bytes: 0, entries: [] } : before;
    this.#files.set(file, read);
    const latest = now + 1_000;
    const entries = parseAppended(read, bytes).filter(
      ({ sentAt, answeredAt = sentAt }) => sentAt <= latest && answeredAt <= latest,
    );
    const endIndex = entries.findIndex(({ id }) => id === end);
    return endIndex === -1 ? entries : entries.slice(0, endIndex);
  }

  /** Calls `use` with the name prefix of a key's files and the time; stops sharing when it fails. */
  #tryFiles<T>({ secret }: PacedRequest, use: (name: string, now: number) => T): T | undefined {
    if (!this.isShared || secret === undefined) return undefined;
    try {
      const name = this.#names.get(secret) ?? this.#nameOf(secret);
      this.#names.set(secret, name);
      const now = this.#clock.now();
      if (periodOf(now) !== this.#period) {
        this.#files.clear();
        removeOld(this.#directory, now);
      }
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
  return Math.floor(at / ENTRY_LIFE_MS);
}

function entryFile(name: string, period: number): string {
  return `${name}.${period}.log`;
}

function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

function holdFile(name: string, day: number): string {
  return `${name}.held-${day}.log`;
}

/** Removes files of past periods and days. */
function removeOld(directory: string, now: number): void {
  for (const name of fs.readdirSync(directory)) {
    const found = /^[0-9a-f]{32}\.(?:(?<period>\d+)\.log|held-(?<day>\d+)\.log)$/.exec(name);
    if (!found) continue;
    const { period = 0, day } = found.groups ?? {};
    const isInUse = day === undefined ? Number(period) >= periodOf(now) - 1 : Number(day) >= dayOf(now);
    if (isInUse) continue;
    try {
      fs.rmSync(path.join(directory, name), { force: true });
    } catch {
      // Another process is removing the same file.
    }
  }
}

/** The part of a file that was parsed: whole lines. */
interface ReadLines {
  lines: number;
  /** The offset at which the next line begins. */
  bytes: number;
  /** The valid entries. */
  readonly entries: LedgerEntry[];
}

function bytesIn(file: string): Buffer {
  try {
    return readOwnFileSync(file, MAX_FILE_BYTES);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

/** Parses the lines appended to a file. The last line may be incomplete, so the next call parses it again. */
function parseAppended(read: ReadLines, bytes: Buffer): readonly LedgerEntry[] {
  const appended = bytes.toString('utf8', read.bytes).split('\n').slice(1);
  const last = appended.pop() ?? '';
  for (const line of appended) read.entries.push(...parseEntry(line));
  read.lines += appended.length;
  read.bytes = Math.max(0, bytes.lastIndexOf('\n'));
  if (read.lines >= MAX_LINES) throw new Error('more lines than a command can read in a moment');
  return [...read.entries, ...parseEntry(last)];
}

/** Parses a line. Returns nothing for an invalid line. */
function parseEntry(line: string): LedgerEntry[] {
  try {
    const entry = JSON.parse(line) as LedgerEntry;
    const { id, rules, sentAt, answeredAt = sentAt, heldUntil = sentAt } = entry;
    const isValid =
      typeof id === 'string' && Array.isArray(rules) && [sentAt, answeredAt, heldUntil].every(Number.isFinite);
    return isValid ? [entry] : [];
  } catch {
    return [];
  }
}
