import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { writeFailure } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { fileSource, type UploadSource } from '../../client/transfer/source.ts';
import { openOverflowFile } from './overflow-file.ts';
import { createSpool } from './spool.ts';
import { checkRequestFile } from './check-request-file.ts';
import type { RequestFileCheck } from './request-file.ts';

interface SpooledRows {
  readonly path: string;
  readonly check: RequestFileCheck;
  readonly source: UploadSource;
}

/**
 * Writes some rows of a checked request file into a private file, and checks it. The file is removed at the end of the
 * command.
 */
export async function spoolRows(context: Context, rows: AsyncIterable<string | Uint8Array>): Promise<SpooledRows> {
  const spooled = await createSpool(context.system);
  context.onClose(() => spooled.remove());
  const file = spooled.path;
  try {
    await pipeline(rows, createWriteStream(file, { flags: 'wx', mode: 0o600 }), { signal: context.signal });
  } catch (error) {
    context.signal.throwIfAborted();
    throw writeFailure(file, error);
  }
  const openOverflow = () => openOverflowFile(context);
  const check = await checkRequestFile((await fileSource(file)).open(), { signal: context.signal, openOverflow });
  return { path: file, check, source: await fileSource(file, { sha256: check.sha256 }) };
}
