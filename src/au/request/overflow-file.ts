import { ScratchFile } from '../../base/files/scratch-file.ts';
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
