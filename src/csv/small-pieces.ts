const SMALL = 4 * 1024;

/**
 * Cuts what comes into pieces of at most 4 KiB. Rows are made of one piece at a time, and those of a small one are
 * gone again before they are moved among the lasting objects.
 */
export async function* inSmallPieces(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of source)
    for (let at = 0; at < chunk.length; at += SMALL) yield chunk.subarray(at, at + SMALL);
}
