import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { writeFailure } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { createSpool } from '../results/spool.ts';
import { checkRequestFile } from './check-request-file.ts';
import type { RequestFile } from './open-request-file.ts';

/**
 * Creates a request file from some rows of a checked request file, next to its copy. The file is removed at the end of
 * the command unless a run takes it over. A dry run only checks the rows and creates no file.
 */
export async function fileOfRest(
  context: Context,
  whole: RequestFile,
  rows: AsyncIterable<string>,
  dryRun: boolean,
): Promise<RequestFile> {
  if (dryRun) return { ...whole, check: await checkRequestFile(bytesOf(rows)) };
  const spooled = await createSpool(context.system, path.dirname(whole.path));
  context.onClose(() => spooled.remove());
  const file = spooled.path;
  try {
    await pipeline(rows, createWriteStream(file, { flags: 'wx', mode: 0o600 }), { signal: context.signal });
  } catch (error) {
    context.signal.throwIfAborted();
    throw writeFailure(file, error);
  }
  const check = await checkRequestFile((await fileSource(file)).open(), { signal: context.signal });
  return { ...whole, path: file, check, source: await fileSource(file, { sha256: check.sha256 }) };
}

async function* bytesOf(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const text of texts) yield Buffer.from(text);
}
