// Private files for data that can be read or written only once, such as pipes.

import { randomBytes } from 'node:crypto';
import { constants, createWriteStream, existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SvcError, writeFailure } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { sha256Of } from '../../base/files/draft.ts';
import { thisHost } from '../../base/files/lock-owner.ts';
import { ScratchFile } from '../../base/files/scratch-file.ts';
import { inspectTarget } from '../../base/files/target.ts';
import type { System } from '../../base/system.ts';
import type { Context } from '../../cli/app/command.ts';
import { refuseDirectory } from '../../cli/app/files/text-file.ts';
import { requireDirectory } from '../../cli/config/paths.ts';
import { copyInto } from '../../client/transfer/copy.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { MAX_JOB_MS } from '../../schema/account-updater-files.ts';
import type { Overflow } from './row-buckets.ts';

/** The largest standard input, twelve times the size of a job. It stops a runaway pipe. */
const LARGEST = 360_000_000;

/** A private file. */
export interface Spooled {
  readonly path: string;
  remove(): Promise<void>;
}

/**
 * Copies standard input, which can be read only once, into a private file.
 * @throws SvcError `input_needed` for a terminal, `local` for a directory
 */
export async function copyInput(context: Context): Promise<string> {
  const { system, signal } = context;
  if (system.stdin.isTTY) {
    throw new SvcError('input_needed', 'standard input is a terminal, not a file', {
      hint: 'Pipe the file in, or name it.',
    });
  }
  refuseDirectory(system.stdin);
  const file = await openSpool(context);
  try {
    await pipeline(system.stdin, bounded, createWriteStream(file, { flags: 'wx', mode: 0o600 }), { signal });
    return file;
  } catch (error) {
    signal.throwIfAborted();
    throw writeFailure(file, error);
  }
}

/** Copies a regular file, so that later changes do not matter. The file system may share the data. */
export async function copyFile(context: Context, file: string): Promise<string> {
  const copy = await openSpool(context);
  try {
    await fs.copyFile(file, copy, constants.COPYFILE_FICLONE);
    await fs.chmod(copy, 0o600);
    return copy;
  } catch (error) {
    throw writeFailure(copy, error);
  }
}

async function* bounded(input: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk);
    size += bytes.byteLength;
    if (size > LARGEST)
      throw new SvcError('refused_input', `standard input is longer than ${LARGEST} bytes`, {
        hint: 'Split it into several files.',
      });
    yield bytes;
  }
}

/**
 * Returns a name for a private file of this process. Its `remove` also removes files with that name and another ending, such
 * as its kept columns, and drafts of them, whose names begin with a dot.
 * Files of killed processes are removed first (R41).
 */
export async function createSpool(system: System): Promise<Spooled> {
  const directory = spoolOf(system);
  try {
    makeDirectory(directory);
    await removeOrphans(directory, system);
  } catch (error) {
    throw writeFailure(directory, error);
  }
  const name = `${space()}-${system.pid}-${randomBytes(6).toString('hex')}`;
  made.add(name);
  const remove = async (): Promise<void> => {
    for (const each of await fs.readdir(directory))
      if (each.replace(/^\./, '').startsWith(`${name}.`)) await fs.rm(path.join(directory, each), { force: true });
    made.delete(name);
  };
  return { path: path.join(directory, `${name}.csv`), remove };
}

/** Removes the private files of killed processes. */
export async function removeOrphanedSpool(system: System): Promise<void> {
  const directory = spoolOf(system);
  if (existsSync(directory)) await removeOrphans(directory, system);
}

function spoolOf(system: System): string {
  return path.join(requireDirectory(system, 'state'), 'spool');
}

/** The names of the private files of this process, without their endings. A killed one may have had the same number, as 1 in a container. */
const made = new Set<string>();

/** The time after which no command needs a private file: none waits longer for a job. */
const MAX_AGE_MS = 2 * MAX_JOB_MS;

async function removeOrphans(directory: string, system: System): Promise<void> {
  for (const each of await fs.readdir(directory)) {
    const [, name = '', owner, pid] = SPOOLED.exec(each) ?? [];
    if (name === '' || made.has(name)) continue;
    const file = path.join(directory, each);
    // The numbers of processes elsewhere mean nothing here.
    const isOrphan =
      owner === space()
        ? Number(pid) === system.pid || !system.isAlive(Number(pid))
        : (await ageOf(file, system)) > MAX_AGE_MS;
    if (isOrphan) await fs.rm(file, { force: true });
  }
}

/** The name of a private file without its ending, from its process. A draft of it has a dot before, and more behind. Earlier builds named no space. */
const SPOOLED = /^\.?((?:([0-9a-f]{8})-)?(\d+)-[0-9a-f]{12})\./;

/** Names the machine or container whose process numbers are meant. The number of its start is no part: a restart ends all. */
function space(): string {
  return sha256Of(thisHost()).slice(0, 8);
}

async function ageOf(file: string, { clock }: System): Promise<number> {
  const stat = await fs.stat(file).catch(() => undefined);
  return stat === undefined ? 0 : clock.now() - stat.mtimeMs;
}

/** Returns the name of a private file that is removed at the end of the command. */
export async function openSpool(context: Context): Promise<string> {
  const spooled = await createSpool(context.system);
  context.onClose(() => spooled.remove());
  return spooled.path;
}

/** Copies a finished file to a pipe, a device or standard output. Does nothing if the target is a file. */
export async function copyOut(context: Context, file: string, out: string): Promise<void> {
  if (out === '-') {
    for await (const piece of (await fileSource(file)).open()) await context.out.writeBytes(piece);
    return;
  }
  const target = await inspectTarget(out, true);
  if (target.kind !== 'file') await copyInto(target, file, context);
}

/**
 * Opens a private file for the hashes of rows that do not fit in memory. It is removed when it is released, and at the end
 * of the command at the latest.
 * @throws SvcError `local` for a file that cannot be written
 */
export async function openOverflowFile(context: Pick<Context, 'system' | 'onClose'>): Promise<Overflow> {
  const spooled = await createSpool(context.system);
  const file = await ScratchFile.create(spooled.path);
  let isReleased = false;
  const release = async (): Promise<void> => {
    if (isReleased) return;
    isReleased = true;
    try {
      await file.close();
    } finally {
      await spooled.remove();
    }
  };
  context.onClose(release);
  return { append: (pieces) => file.append(pieces), read: (at, words) => file.read(at, words), release };
}
