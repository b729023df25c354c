import type { DrawOptions } from './bars.ts';

/** How many of the parts of a work are how far. */
export interface PartCounts {
  readonly done: number;
  readonly atWork: number;
  /** Not begun yet. */
  readonly waiting: number;
  readonly failed: number;
}

const SIGNS = {
  done: ['█', '#'],
  atWork: ['▒', '='],
  waiting: ['░', '.'],
  failed: ['╳', 'x'],
} as const;

const ORDER = ['done', 'atWork', 'waiting', 'failed'] as const;

/** A cell for each part by its state, `width` columns at most; where there are more parts each state keeps a cell. */
export function drawParts(counts: PartCounts, width: number, { unicode = true }: DrawOptions = {}): string {
  const total = ORDER.reduce((sum, state) => sum + counts[state], 0);
  const cells = total <= width ? counts : scaled(counts, width / total);
  return ORDER.map((state) => SIGNS[state][unicode ? 0 : 1].repeat(cells[state])).join('');
}

// What is done is rounded down, so that a bar is full only when all is; the last state with parts takes what is left.
function scaled(counts: PartCounts, share: number): PartCounts {
  const cells = { done: 0, atWork: 0, waiting: 0, failed: 0 };
  const present = ORDER.filter((state) => counts[state] > 0);
  const width = Math.round(share * ORDER.reduce((sum, state) => sum + counts[state], 0));
  let free = width;
  for (const [at, state] of present.entries()) {
    const after = present.length - at - 1;
    const wanted = after === 0 ? free : Math.max(1, Math.floor(counts[state] * share));
    cells[state] = Math.max(0, Math.min(wanted, free - after));
    free -= cells[state];
  }
  return cells;
}
