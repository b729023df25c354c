import { GAP } from './layout.ts';
import type { Ruler } from './ruler.ts';
import type { ColumnKind, Palette, Tone } from './view.ts';

/** One value of a table, ready to be shown: clean text, its width in columns, and its tone. */
export interface Cell {
  readonly text: string;
  readonly width: number;
  readonly kind: ColumnKind;
  readonly tone?: Tone | undefined;
}

/** What drawing needs beside the cells. */
export interface Pen {
  readonly ruler: Ruler;
  readonly palette: Palette;
}

/** Cells side by side, numbers to the right, text cut to its column, no spaces at the end. */
export function drawRow(cells: readonly Cell[], widths: readonly number[], pen: Pen): string {
  const parts = cells.map((cell, at) => {
    const column = widths[at] ?? cell.width;
    const cut = cell.kind === 'text' && cell.width > column;
    const text = cut ? pen.ruler.cut(cell.text, column) : cell.text;
    const padding = ' '.repeat(Math.max(0, column - (cut ? pen.ruler.width(text) : cell.width)));
    const painted = paint(text, cell.tone, pen.palette);
    if (cell.kind === 'number') return padding + painted;
    return at === cells.length - 1 ? painted : painted + padding;
  });
  return `${parts.join(' '.repeat(GAP))}\n`;
}

/** A `label: value` line each; a value that does not fit goes below its label, in pieces unless it is an identifier. */
export function drawBlock(
  labels: readonly string[],
  cells: readonly Cell[],
  width: number,
  pen: Pen,
): string {
  const lines = cells.flatMap((cell, at) => {
    const label = `${labels[at] ?? ''}:`;
    const head = paint(label, 'strong', pen.palette);
    if (pen.ruler.width(label) + 1 + cell.width <= width) return [`${head} ${valueOf(cell, pen)}`];
    return [head, ...linesBelow(cell, width, pen)];
  });
  return `${lines.join('\n')}\n`;
}

/** Aligned `label  value` lines, nothing cut; a value that does not fit `width` goes below its label, in pieces. */
export function drawPairs(
  labels: readonly string[],
  cells: readonly Cell[],
  width: number,
  pen: Pen,
): string {
  const widest = Math.max(0, ...labels.map((label) => pen.ruler.width(label)));
  const lines = cells.map((cell, at) => {
    const label = labels[at] ?? '';
    const own = pen.ruler.width(label);
    if (own + GAP + cell.width > width)
      return `${[paint(label, 'strong', pen.palette), ...linesBelow(cell, width, pen)].join('\n')}\n`;
    const isAligned = widest + GAP + cell.width <= width;
    const padding = ' '.repeat(GAP + (isAligned ? widest - own : 0));
    return `${paint(label, 'strong', pen.palette)}${padding}${valueOf(cell, pen)}\n`;
  });
  return lines.join('');
}

// Below its label, set in; an identifier stays whole, for whoever copies it.
function linesBelow(cell: Cell, width: number, pen: Pen): string[] {
  const pieces = cell.kind === 'id' ? [cell.text] : pen.ruler.wrap(cell.text, Math.max(2, width - GAP));
  return pieces.map((piece) => ' '.repeat(GAP) + paint(piece.trimEnd(), cell.tone, pen.palette));
}

function valueOf(cell: Cell, pen: Pen): string {
  return paint(cell.text, cell.tone, pen.palette);
}

function paint(text: string, tone: Tone | undefined, palette: Palette): string {
  return tone === undefined ? text : palette[tone](text);
}
