import { inspectTarget } from '../../base/files/target.ts';
import type { Context } from '../../cli/app/command.ts';
import { copyInto, fileSource } from '../../client/transfer/source.ts';
import { createSpool } from './spool.ts';

/**
 * Creates the name of a private file for output to a pipe, a device or standard output, which must receive only checked
 * data.
 */
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
