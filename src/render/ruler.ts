/** Measures and cuts text in terminal columns. */
export interface Ruler {
  /** Columns that `text` takes. */
  width(text: string): number;
  /** `text` in at most `width` columns, with an ellipsis where something was cut off. */
  cut(text: string, width: number): string;
  /** `text` in pieces of at most `width` columns. */
  wrap(text: string, width: number): string[];
}

/** Whether every character of `text` is printable ASCII, one column each. */
export function isNarrow(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/** For printable ASCII. The ellipsis is one column too. */
export const narrowRuler: Ruler = {
  width: (text) => text.length,
  cut: (text, width) => (text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`),
  wrap: (text, width) => {
    const pieces: string[] = [];
    for (let at = 0; at < text.length; at += width) pieces.push(text.slice(at, at + width));
    return pieces;
  },
};

/** A ruler for text of any script. It costs some 50 ms to load, so it is asked for only when such text is met. */
export async function wideRuler(): Promise<Ruler> {
  const wide = await import('./wide-ruler.ts');
  return wide.wideRuler;
}
