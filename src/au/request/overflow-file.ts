import fs from 'node:fs/promises';
import { writeFailure, wrongSize } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import type { Overflow } from './row-buckets.ts';
import { createSpool } from './spool.ts';

/**
 * Opens a private file for the hashes of rows that do not fit in memory. It is removed when it is released, and at the end
 * of the command at the latest.
 * @throws SvcError `local` for a file that cannot be written
 */
export async function openOverflowFile(context: Pick<Context, 'system' | 'onClose'>): Promise<Overflow> {
  const spooled = await createSpool(context.system);
  context.onClose(() => spooled.remove());
  const file = await fs.open(spooled.path, 'wx+', 0o600).catch((error: unknown) => {
    throw writeFailure(spooled.path, error);
  });
  let size = 0;
  return {
    async append(pieces) {
      const at = size;
      size += pieces.reduce((bytes, piece) => bytes + piece.byteLength, 0);
      const { bytesWritten } = await file.writev(pieces).catch((error: unknown) => {
        throw writeFailure(spooled.path, error);
      });
      if (at + bytesWritten !== size) throw wrongSize(spooled.path, at + bytesWritten, size);
      return at;
    },
    async read(at, words) {
      const { bytesRead } = await file.read(words, 0, words.byteLength, at);
      if (bytesRead !== words.byteLength) throw wrongSize(spooled.path, at + bytesRead, size);
    },
    async release() {
      await file.close();
      await spooled.remove();
    },
  };
}
