import type { Renderer } from '../render/format.ts';
import type { Output } from './output.ts';

/**
 * Writes a list batch by batch, each after the reader took the one before. Once begun, the list is also ended
 * when the source fails, so that what was written can be parsed; the failure goes on to the caller.
 * Resolves to the number of rows written.
 */
export async function printList<T>(
  out: Output,
  renderer: Renderer<T>,
  batches: AsyncIterable<readonly T[]>,
): Promise<number> {
  let count = 0;
  let begun = false;
  try {
    for await (const batch of batches) {
      const head = begun ? '' : renderer.begin();
      begun = true;
      await out.write(head + (await renderer.rows(batch)));
      count += batch.length;
    }
  } catch (error) {
    // Whether this last write works matters no more: the first failure is the one to tell.
    if (begun) await out.write(await renderer.end(true)).catch(() => {});
    throw error;
  }
  await out.write((begun ? '' : renderer.begin()) + (await renderer.end()));
  return count;
}

/** Writes one object. */
export async function printRecord<T>(out: Output, renderer: Renderer<T>, value: T): Promise<void> {
  await out.write(await renderer.record(value));
}
