import fs from 'node:fs';
import { readFailure, SvcError } from '../../../base/errors.ts';
import { readFileOrPipe } from '../../../base/files/read.ts';
import type { InputStream } from '../../../base/system.ts';
import type { Context } from '../command.ts';
import { resolvePath } from './typed-path.ts';

const MAX_BODY_BYTES = 1_000_000;

/**
 * Reads a text file of at most 1 MB, or standard input for `-`, and returns it with its name for messages.
 * @throws SvcError `refused_input` if it is too long or not UTF-8, `local` if it cannot be read, `input_needed` if standard
 *   input is a terminal; the signal's reason when it aborts
 */
export async function readTextFile(context: Context, typed: string): Promise<{ name: string; text: string }> {
  const name = typed === '-' ? 'standard input' : typed;
  return { name, text: decodeUtf8(await readBytes(context, typed, name), name) };
}

async function readBytes(context: Context, typed: string, name: string): Promise<Buffer> {
  if (typed !== '-') {
    const file = resolvePath(context, typed);
    const bytes = await readFileOrPipe(file, MAX_BODY_BYTES + 1, context).catch((error: unknown) => {
      throw readFailure(name, error);
    });
    if (bytes.length > MAX_BODY_BYTES) throw tooLong(name);
    return bytes;
  }
  const { stdin } = context.system;
  if (stdin.isTTY === true) {
    throw new SvcError('input_needed', 'standard input is a terminal, not a file', {
      hint: 'Pipe the body in, or name its file.',
    });
  }
  return readInput(stdin, MAX_BODY_BYTES, context.signal);
}

function tooLong(name: string): SvcError {
  return new SvcError(
    'refused_input',
    `${name} is longer than ${MAX_BODY_BYTES} bytes, the longest body of a request`,
    { hint: 'Check that it is the right file.' },
  );
}

function decodeUtf8(bytes: Buffer, name: string): string {
  try {
    // The decoder drops a byte order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new SvcError('refused_input', `${name} is not UTF-8 text`, { hint: 'Save it as UTF-8.' });
  }
}

/**
 * Reads standard input to its end.
 * @throws SvcError `refused_input` beyond `limit` bytes, `local` if it cannot be read; the signal's reason when it aborts
 */
export async function readInput(stdin: InputStream, limit: number, signal: AbortSignal): Promise<Buffer> {
  refuseDirectory(stdin);
  // A pipe that stays silent must not keep an interrupted command alive.
  const stop = (): void => void stdin.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await readChunks(stdin, limit);
  } catch (error) {
    throw readFailure('standard input', error);
  } finally {
    signal.removeEventListener('abort', stop);
    signal.throwIfAborted();
  }
}

/** Refuses a directory on standard input, which Node shows as an empty file. @throws SvcError `local` */
export function refuseDirectory({ fd }: InputStream): void {
  if (isDirectory(fd)) throw readFailure('standard input', Object.assign(new Error('a directory'), { code: 'EISDIR' }));
}

function isDirectory(fd = -1): boolean {
  try {
    return fs.fstatSync(fd).isDirectory();
  } catch {
    // Where the system cannot tell, reading shows what is wrong.
    return false;
  }
}

async function readChunks(stdin: InputStream, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin as AsyncIterable<Buffer | string>) {
    const bytes = Buffer.from(chunk);
    size += bytes.byteLength;
    if (size > limit) throw new SvcError('refused_input', `standard input is longer than ${limit} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
