import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { isSvcError, SvcError, writeFailure } from '../errors.ts';
import { makeDirectory } from '../files/directory.ts';
import type { System } from '../system.ts';
import { hashFile } from '../transfer/source.ts';
import type { RunDirectory } from './run-directory.ts';

/** A private file on disk: a copy of standard input, which can be read only once, or what is to go to a pipe. */
export interface Spooled {
  readonly path: string;
  remove(): Promise<void>;
}

/**
 * Copies `input` into a file that only its owner can read, in a directory of its own. Copies that killed
 * processes left behind are removed first (R41).
 * @param limit bytes; more is refused, and nothing stays
 */
export async function spool(
  input: AsyncIterable<Uint8Array | string>,
  directory: string,
  system: Pick<System, 'pid' | 'isAlive' | 'signal'>,
  limit: number,
): Promise<Spooled> {
  const spooled = await spoolFile(directory, system);
  try {
    await copy(input, spooled.path, system.signal, limit);
    return spooled;
  } catch (error) {
    await spooled.remove();
    throw error;
  }
}

/** A name for a private file that lasts as long as this process, and what stands beside it. */
export async function spoolFile(
  directory: string,
  system: Pick<System, 'pid' | 'isAlive'>,
): Promise<Spooled> {
  await prepare(directory, system);
  const name = `${system.pid}-${randomBytes(6).toString('hex')}.csv`;
  const remove = async (): Promise<void> => {
    for (const each of await fs.readdir(directory))
      if (each.startsWith(name)) await fs.rm(path.join(directory, each), { force: true });
  };
  return { path: path.join(directory, name), remove };
}

async function prepare(directory: string, { isAlive, pid }: Pick<System, 'pid' | 'isAlive'>): Promise<void> {
  try {
    makeDirectory(directory);
    for (const name of await fs.readdir(directory)) {
      const owner = Number(/^(\d+)-[0-9a-f]{12}\.csv/.exec(name)?.[1] ?? Number.NaN);
      if (!Number.isNaN(owner) && owner !== pid && !isAlive(owner))
        await fs.rm(path.join(directory, name), { force: true });
    }
  } catch (error) {
    throw writeFailure(directory, error);
  }
}

async function copy(
  input: AsyncIterable<Uint8Array | string>,
  file: string,
  signal: AbortSignal,
  limit: number,
): Promise<void> {
  const handle = await fs.open(file, 'wx', 0o600).catch((error: unknown) => {
    throw writeFailure(file, error);
  });
  let size = 0;
  try {
    for await (const chunk of until(signal, input)) {
      const bytes = Buffer.from(chunk);
      size += bytes.byteLength;
      if (size > limit)
        throw new SvcError('refused_input', `standard input is longer than ${limit} bytes`, {
          hint: 'Split it into several files.',
        });
      await handle.writeFile(bytes).catch((error: unknown) => {
        throw writeFailure(file, error);
      });
    }
  } finally {
    await handle.close();
  }
}

// A pipe that stays silent must not keep an interrupted command alive.
async function* until<T>(signal: AbortSignal, input: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = input[Symbol.asyncIterator]();
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  });
  aborted.catch(() => undefined);
  for (;;) {
    const next = await Promise.race([iterator.next(), aborted]);
    if (next.done) return;
    yield next.value;
  }
}

/**
 * Finds the input of a run again, and makes sure that it is still the same.
 * @throws SvcError `checksum_mismatch` when it is not, `conflict` when it came through a pipe
 */
export async function reopenFile({ record, name, submitCommand }: RunDirectory): Promise<string> {
  const { id, input } = record;
  if (input.path === undefined) {
    throw new SvcError('conflict', `run ${id} has parts to upload, and its input came through a pipe`, {
      hint: `Pipe the same file into '${submitCommand}' again: it goes on where it stopped; or give the run up with 'svc au abandon ${name}'.`,
    });
  }
  const giveUp = `or give the run up with 'svc au abandon ${name}'.`;
  if ((await hashOf(input.path, giveUp)) === input.sha256) return input.path;
  throw new SvcError('checksum_mismatch', `${input.path} has changed since run ${id} was begun`, {
    hint: `Put the file back as it was, ${giveUp}`,
    facts: { run: id },
  });
}

async function hashOf(file: string, giveUp: string): Promise<string> {
  try {
    return await hashFile(file);
  } catch (error) {
    if (!isSvcError(error)) throw error;
    throw new SvcError(error.code, error.message, {
      hint: `Put the file back, submit it under its new name, ${giveUp}`,
      facts: error.facts,
      cause: error,
    });
  }
}
