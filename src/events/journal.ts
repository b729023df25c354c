// The journal of received events: a file with one event per line.

import nodeFs from 'node:fs';
import fs from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { isDeepStrictEqual } from 'node:util';
import { readFailure, SvcError, systemCodeOf, writeFailure } from '../base/errors.ts';
import { piecesOf, type WaitOptions as WaitingForPipe } from '../base/files/read.ts';
import { systemClock } from '../base/system.ts';
import { headersToForward, headersToKeep, type ReceivedEvent, textIn } from '../client/webhooks/received.ts';
import { isObject, parsedJson } from '../schema/json-value.ts';
import { wrongJournal } from './wrong-journal.ts';

export interface JournalEntry {
  /** The time of receipt, ISO 8601. */
  readonly received_at: string;
  readonly id: string;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Set if the body or a forwarded header contained something that must not be stored, such as a card number. */
  readonly redacted?: true | undefined;
}

/** A line to write, and the promise of its `append`. */
interface PendingLine {
  readonly line: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A journal to append to. Only the owner can read the file. */
export class Journal {
  readonly #file: string;
  readonly #handle: fs.FileHandle;
  readonly #redact: (text: string) => string;
  readonly #waiting: PendingLine[] = [];
  #writing: Promise<void> | undefined;
  /** Whether the file ends within a line. */
  #torn: boolean;

  private constructor(file: string, handle: fs.FileHandle, torn: boolean, redact: (text: string) => string) {
    this.#file = file;
    this.#handle = handle;
    this.#torn = torn;
    this.#redact = redact;
  }

  /**
   * Opens or creates a journal.
   * @throws SvcError `local` if that is not possible, `refused_input` for a file that is not a journal
   */
  static async open(file: string, redact: (text: string) => string): Promise<Journal> {
    await refuseForeign(file);
    let handle: fs.FileHandle | undefined;
    try {
      handle = await fs.open(file, 'a', 0o600);
      const found = await handle.stat();
      if (found.isFile() && (found.mode & 0o077) !== 0) await handle.chmod(0o600);
      return new Journal(file, handle, await isTorn(file, found.size), redact);
    } catch (error) {
      await handle?.close();
      throw writeFailure(file, error);
    }
  }

  /**
   * Appends an event. Resolves when the event is flushed to disk.
   * @throws SvcError `local` if the event cannot be written
   */
  append(event: ReceivedEvent): Promise<void> {
    const line = `${JSON.stringify(this.#entryOf(event))}\n`;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#handle.close();
  }

  #entryOf({ receivedAt, headers, bytes, delivery }: ReceivedEvent): JournalEntry {
    const text = bytes.toString('utf8');
    const body = this.#redact(text);
    const kept = headersToKeep(headers, this.#redact);
    const isWhole =
      body === text && isDeepStrictEqual(headersToForward(new Map(Object.entries(kept))), headersToForward(headers));
    return {
      received_at: new Date(receivedAt).toISOString(),
      id: this.#redact(delivery.event.id),
      type: this.#redact(delivery.event.type),
      headers: kept,
      ...(isWhole ? {} : { redacted: true }),
      body,
    };
  }

  // Each event is one write. Events that arrive during a flush share the next flush.
  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const written: PendingLine[] = [];
      for (const waiting of this.#waiting.splice(0)) if (await this.#write(waiting)) written.push(waiting);
      try {
        if (written.length > 0) await this.#sync();
        await this.#refuseRemoved();
        for (const { resolve } of written) resolve();
      } catch (error) {
        for (const { reject } of written) reject(writeFailure(this.#file, error));
      }
    }
    this.#writing = undefined;
  }

  async #write({ line, reject }: PendingLine): Promise<boolean> {
    // After an incomplete line, a newline comes first, so that readers skip only that line.
    const bytes = Buffer.from(this.#torn ? `\n${line}` : line);
    let done = 0;
    try {
      while (done < bytes.length) done += (await this.#handle.write(bytes, done)).bytesWritten;
      this.#torn = false;
      return true;
    } catch (error) {
      this.#torn ||= done > 0;
      reject(writeFailure(this.#file, error));
      return false;
    }
  }

  /** Checks that nobody removed the file: events written to a removed file would be lost. */
  async #refuseRemoved(): Promise<void> {
    const { nlink, ino } = await this.#handle.stat();
    // Some file systems do not count links, so the name is checked too.
    if (nlink > 0 || (await fs.stat(this.#file).catch(() => undefined))?.ino === ino) return;
    throw new SvcError('local', `${this.#file} was removed: start the command again`);
  }

  async #sync(): Promise<void> {
    try {
      await this.#handle.datasync();
    } catch (error) {
      // These codes mean a device that cannot be flushed. A regular file fails with other codes.
      if (!['EINVAL', 'ENOTSUP'].includes(systemCodeOf(error) ?? '')) throw error;
    }
  }
}

/** Refuses what is no file, and a file that does not begin with an event, because its name may be mistyped. */
async function refuseForeign(file: string): Promise<void> {
  const found = await fs.stat(file).catch(() => undefined);
  if (found === undefined || found.isCharacterDevice()) return;
  // Opening a pipe would wait for a reader, perhaps forever.
  if (!found.isFile()) throw new SvcError('local', `${file} is not a file`, { hint: 'Name a file for the journal.' });
  for await (const read of readJournal(file)) {
    if ('entry' in read) return;
    // Other JSON files begin like a torn entry too, so the next line decides.
    if (!read.isTorn)
      throw wrongJournal(
        `${file} is not a journal of events: ${read.problem} (line ${read.line}); nothing was written`,
      );
  }
}

async function isTorn(file: string, size: number): Promise<boolean> {
  if (size === 0) return false;
  const reader = await fs.open(file, 'r');
  try {
    const { buffer } = await reader.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer.toString() !== '\n';
  } finally {
    await reader.close();
  }
}

/** A line of a journal: an entry, or an unreadable line. */
export type JournalLine = { readonly line: number } & ({ readonly entry: JournalEntry } | UnreadableLine);

interface UnreadableLine {
  readonly problem: string;
  /** Whether the line is the beginning of an entry, cut off when a process was killed. The sender got no 2xx for its event. */
  readonly isTorn: boolean;
}

interface ReadOptions extends Partial<WaitingForPipe> {
  /** The number of bytes to leave out at the beginning. */
  readonly from?: number | undefined;
}

/**
 * Reads a journal line by line, up to its current end: a listener may append each event that a replay sends. Reads a pipe
 * until its writer closes it.
 * @throws SvcError `local` if the file cannot be read, `refused_input` for a line longer than any event; the signal's reason
 *   when aborted
 */
export async function* readJournal(
  file: string,
  { from = 0, clock = systemClock, signal }: ReadOptions = {},
): AsyncGenerator<JournalLine> {
  let line = 0;
  try {
    const stats = await fs.stat(file);
    const maxBytes = stats.isFile() ? Math.max(0, stats.size - from) : undefined;
    for await (const text of linesIn(piecesOf(file, { from, maxBytes, clock, signal }), signal)) {
      if (text === undefined) throw wrongJournal(`line ${line + 1} of ${file} is longer than any event`);
      line += 1;
      if (text.trim() !== '') yield { line, ...readLine(line === 1 ? text.replace(/^\uFEFF/, '') : text) };
    }
  } catch (error) {
    throw readFailure(file, error);
  }
}

// The end of a journal with about ten thousand events.
const TAIL_BYTES = 8_000_000;

/** Yields the ids of the last events of a journal, oldest first; none if the file does not exist. */
export async function* recentIds(file: string): AsyncGenerator<string> {
  const found = await nodeFs.promises.stat(file).catch(() => undefined);
  if (found === undefined || !found.isFile()) return;
  for await (const read of readJournal(file, { from: Math.max(0, found.size - TAIL_BYTES) }))
    if ('entry' in read) yield read.entry.id;
}

/** The maximum length of a line: longer than the largest accepted event with all its characters escaped. */
const MAX_LINE = 16_000_000;

/**
 * Yields the lines of a file. Yields undefined for a line that is too long, and ends there. Splits only at line feeds: newer
 * versions of Node's readline also split at U+2028, which may be inside a JSON text.
 */
async function* linesIn(bytes: AsyncIterable<Buffer>, signal?: AbortSignal): AsyncGenerator<string | undefined> {
  const decoder = new StringDecoder('utf8');
  let pieces: string[] = [];
  let length = 0;
  for await (const piece of bytes) {
    signal?.throwIfAborted();
    const [first = '', ...lines] = decoder.write(piece).split('\n');
    const rest = lines.pop();
    pieces.push(first);
    length += first.length;
    if (length > MAX_LINE) return yield undefined;
    if (rest === undefined) continue;
    yield pieces.join('');
    yield* lines;
    [pieces, length] = [[rest], rest.length];
  }
  if (length > 0) yield pieces.join('');
}

/** The beginning of each entry. */
const ENTRY_START = '{"received_at":"';

function readLine(text: string): { entry: JournalEntry } | UnreadableLine {
  const value = parsedJson(text);
  const id = textIn(value, 'id');
  const type = textIn(value, 'type');
  const body = textIn(value, 'body');
  const receivedAt = textIn(value, 'received_at') ?? '';
  if (id === undefined || type === undefined || body === undefined || Number.isNaN(Date.parse(receivedAt)))
    return value === undefined
      ? { problem: 'it is truncated or not JSON', isTorn: text.startsWith(ENTRY_START.slice(0, text.length)) }
      : { problem: 'it is not an event of a journal', isTorn: false };
  const redacted = isObject(value) && value['redacted'] === true;
  return {
    entry: { received_at: receivedAt, id, type, headers: headersIn(value), ...(redacted ? { redacted } : {}), body },
  };
}

function headersIn(value: unknown): Record<string, string> {
  const headers = isObject(value) && isObject(value['headers']) ? value['headers'] : {};
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, text]) => (typeof text === 'string' ? [[name, text]] : [])),
  );
}
