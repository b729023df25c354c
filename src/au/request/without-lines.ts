import { LF } from './request-file.ts';

/** Yields a file without some of its lines, given in order and counted from 1. All other bytes stay as they are. */
export async function* withoutLines(
  source: AsyncIterable<Uint8Array>,
  lines: readonly number[],
): AsyncGenerator<Uint8Array, void> {
  let line = 1;
  let next = 0;
  for await (const piece of source) {
    let kept = 0;
    for (let at = 0; at < piece.length;) {
      const feed = piece.indexOf(LF, at);
      const end = feed === -1 ? piece.length : feed + 1;
      if (line === lines[next]) {
        // The memory of a piece is reused before a stream has written it.
        if (at > kept) yield Uint8Array.from(piece.subarray(kept, at));
        kept = end;
        if (feed !== -1) next += 1;
      }
      if (feed !== -1) line += 1;
      at = end;
    }
    if (kept < piece.length) yield Uint8Array.from(piece.subarray(kept));
  }
}
