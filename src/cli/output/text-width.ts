// Measures and cuts text in terminal columns.

export interface TextWidth {
  /** Returns the width of a text. */
  width(text: string): number;
  /** Cuts a text to at most `width` columns, with an ellipsis at the cut. */
  cut(text: string, width: number): string;
  /** Splits a text into pieces of at most `width` columns. */
  wrap(text: string, width: number): string[];
}

/** Measures printable ASCII. The ellipsis is one column wide too. */
export const asciiWidth: TextWidth = {
  width: (text) => text.length,
  cut: (text, width) => (text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`),
  wrap: (text, width) => {
    const pieces: string[] = [];
    for (let at = 0; at < text.length; at += width) pieces.push(text.slice(at, at + width));
    return pieces;
  },
};

/** Loads the measure of text in any script: CJK and emoji take two columns, combining marks none. Loading it is slow. */
export async function loadUnicodeWidth(): Promise<TextWidth> {
  const { default: stringWidth } = await import('string-width');
  const graphemes = new Intl.Segmenter();
  // Returns the longest beginning of a text that fits, without splitting a grapheme.
  const beginning = (text: string, width: number): string => {
    let used = 0;
    let end = 0;
    for (const { segment, index } of graphemes.segment(text)) {
      used += stringWidth(segment);
      if (used > width) break;
      end = index + segment.length;
    }
    return text.slice(0, end);
  };
  return {
    width: stringWidth,
    cut: (text, width) => (stringWidth(text) <= width ? text : `${beginning(text, width - 1)}…`),
    wrap: (text, width) => {
      const pieces: string[] = [];
      for (let rest = text; rest !== '';) {
        const [first] = graphemes.segment(rest);
        const piece = beginning(rest, width) || (first?.segment ?? rest);
        pieces.push(piece);
        rest = rest.slice(piece.length);
      }
      return pieces;
    },
  };
}
