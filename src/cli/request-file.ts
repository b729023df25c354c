import path from 'node:path';
import { requireDirectory } from '../config/paths.ts';
import { checkRequestFile } from '../csv/check-request-file.ts';
import { explainWarnings, refusedFile } from '../csv/explain-check.ts';
import type { RequestFileCheck } from '../csv/request-file.ts';
import { SvcError } from '../errors.ts';
import { spool } from '../runs/spool.ts';
import { fileSource, type UploadSource } from '../transfer/source.ts';
import { annotate } from './annotations.ts';
import type { Context } from './context.ts';

/** A request file that was checked and may be sent. */
export interface RequestFile {
  /** As the operator called it. */
  readonly name: string;
  readonly check: RequestFileCheck;
  /** Where its bytes are. */
  readonly path: string;
  /** Whether it can be read again by a later command: not when it came through a pipe. */
  readonly lasts: boolean;
  /** Exactly the bytes that were checked; a change in between is noticed. */
  readonly source: UploadSource;
}

const LARGE = 20_000_000;
/** Twelve times what one job takes: enough for any pipe, and a bound for a runaway one. */
const LARGEST_SPOOL = 360_000_000;

/**
 * Opens and checks a request file, or standard input for `-`, which is copied to a private place first.
 * @throws SvcError `refused_input` with every problem found, before anything is created or sent
 */
export async function openRequestFile(context: Context, typed: string): Promise<RequestFile> {
  const { name, path: file, check } = await lookAtRequestFile(context, typed);
  if (!check.ok) throw refusedFile(check, name);
  const source = await fileSource(file, { sha256: check.sha256 });
  return { name, check, path: file, lasts: typed !== '-', source };
}

/** A request file and what is to be said of it, whether it is in order or not; warnings are said here. */
export async function lookAtRequestFile(
  context: Context,
  typed: string,
): Promise<Pick<RequestFile, 'name' | 'path' | 'check'>> {
  const name = typed === '-' ? 'standard input' : typed;
  const file = typed === '-' ? await spoolInput(context) : typed;
  const check = await checkShown(context, file);
  annotate(context, typed, check);
  if (check.ok) for (const warning of explainWarnings(check)) context.notices.warn(`${name}: ${warning}`);
  return { name, path: file, check };
}

/** The file for a single job. @throws SvcError `refused_input` when it has more bytes than one job takes */
export async function openJobFile(context: Context, typed: string): Promise<RequestFile> {
  const file = await openRequestFile(context, typed);
  const { rows, bytes, exceeds } = file.check;
  if (!exceeds.bytes) return file;
  throw new SvcError('refused_input', `${file.name} is too large for one job: ${bytes} bytes`, {
    hint: 'A job takes 30,000,000 bytes: split the file, each part with the header row.',
    facts: { rows, bytes },
  });
}

async function checkShown({ progress, signal }: Context, file: string): Promise<RequestFileCheck> {
  const source = await fileSource(file);
  const shown = source.size >= LARGE ? progress.bytes('check', source.size) : undefined;
  try {
    const check = await checkRequestFile(source.open(), {
      signal,
      onProgress: (bytes) => shown?.update(bytes),
    });
    shown?.done();
    return check;
  } catch (error) {
    shown?.fail();
    throw error;
  }
}

async function spoolInput(context: Context): Promise<string> {
  const { system, signal } = context;
  if (system.stdin.isTTY) {
    throw new SvcError('input_needed', 'standard input is a terminal, not a file', {
      hint: 'Pipe the request file in, or name it.',
    });
  }
  const directory = path.join(requireDirectory(system, 'state'), 'spool');
  const host = { pid: system.pid, isAlive: (pid: number) => system.isAlive(pid), signal };
  const spooled = await spool(system.stdin, directory, host, LARGEST_SPOOL);
  context.onClose(() => spooled.remove());
  return spooled.path;
}
