import fs from 'node:fs';
import { SvcError } from '../errors.ts';
import { systemCodeOf } from '../system-code.ts';
import type { JournalEntry } from './journal.ts';
import { isObject, textIn } from './received.ts';

/** A line of a journal: an entry, or one that cannot be read, such as the last one of a process that was killed. */
export type JournalLine = { readonly line: number } & (
  | { readonly entry: JournalEntry }
  | { readonly problem: string }
);

/** Reads a journal line by line, in order. @throws SvcError `local` when the file cannot be read */
export async function* readJournal(file: string, from = 0): AsyncGenerator<JournalLine> {
  const stream = fs.createReadStream(file, { start: from });
  let line = 0;
  try {
    for await (const text of linesOf(stream)) {
      line += 1;
      if (text.trim() !== '') yield { line, ...readLine(text) };
    }
  } catch (error) {
    throw unreadable(file, error);
  } finally {
    stream.destroy();
  }
}

// As much as is worth reading at a start: ten thousand events and more.
const TAIL_BYTES = 8_000_000;

/** The ids of the last events of a journal, oldest first; none where there is no journal yet. */
export async function* recentIds(file: string): AsyncGenerator<string> {
  const found = await fs.promises.stat(file).catch(() => undefined);
  if (found === undefined || !found.isFile()) return;
  for await (const read of readJournal(file, Math.max(0, found.size - TAIL_BYTES)))
    if ('entry' in read) yield read.entry.id;
}

// By line feeds alone: newer versions of Node's readline also split at U+2028, which JSON leaves within a line.
async function* linesOf(stream: fs.ReadStream): AsyncGenerator<string> {
  stream.setEncoding('utf8');
  let rest = '';
  for await (const text of stream as AsyncIterable<string>) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

function readLine(text: string): { entry: JournalEntry } | { problem: string } {
  const value = parsed(text);
  const [id, type, body] = ['id', 'type', 'body'].map((name) => textIn(value, name));
  const receivedAt = textIn(value, 'received_at');
  if (id === undefined || type === undefined || body === undefined || receivedAt === undefined)
    return { problem: value === undefined ? 'it is cut off or no JSON' : 'it is no event of a journal' };
  const redacted = isObject(value) && value['redacted'] === true;
  return {
    entry: {
      received_at: receivedAt,
      id,
      type,
      headers: headersIn(value),
      ...(redacted ? { redacted } : {}),
      body,
    },
  };
}

function headersIn(value: unknown): Record<string, string> {
  const headers = isObject(value) && isObject(value['headers']) ? value['headers'] : {};
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, text]) => (typeof text === 'string' ? [[name, text]] : [])),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unreadable(file: string, error: unknown): unknown {
  const code = systemCodeOf(error);
  if (error instanceof SvcError || code === undefined) return error;
  const words = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
  return new SvcError('local', `${file} ${words}`, {
    hint: 'Check the path and its permissions.',
    cause: error,
  });
}
