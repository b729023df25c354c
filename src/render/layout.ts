/** Columns of space between two columns of a table. */
export const GAP = 2;

/** What a column wants: all of `natural` where it may not be cut, else no less than `least`. */
export interface Track {
  readonly natural: number;
  readonly least: number;
}

/**
 * Widths of the tracks that fit in `width` with gaps between them, or undefined when they cannot.
 * The widest columns give first: all that shrink end up equally wide.
 */
export function fitWidths(tracks: readonly Track[], width: number): number[] | undefined {
  const room = width - GAP * (tracks.length - 1);
  if (sum(tracks.map(({ least }) => least)) > room) return undefined;
  let cap = Math.min(room, Math.max(0, ...tracks.map(({ natural }) => natural)));
  while (sum(capped(tracks, cap)) > room) cap -= 1;
  return handOut(tracks, capped(tracks, cap), room);
}

function capped(tracks: readonly Track[], cap: number): number[] {
  return tracks.map(({ natural, least }) => Math.max(least, Math.min(natural, cap)));
}

// Lowering the cap by one may free more columns than were needed; the first to want one gets it back.
function handOut(tracks: readonly Track[], widths: readonly number[], room: number): number[] {
  let spare = room - sum(widths);
  return tracks.map(({ natural }, at) => {
    const width = widths[at] ?? 0;
    if (spare <= 0 || width >= natural) return width;
    spare -= 1;
    return width + 1;
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
