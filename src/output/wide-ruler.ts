import stringWidth from 'string-width';
import { asciiWidth, isNarrow, type TextWidth } from './text.ts';

const graphemes = new Intl.Segmenter();

/** Measures by grapheme: CJK and emoji take two columns, combining marks none. */
export const unicodeWidth: TextWidth = {
  width: stringWidth,
  cut: (text, width) => {
    if (isNarrow(text)) return asciiWidth.cut(text, width);
    return stringWidth(text) <= width ? text : `${pieceOf(text, width - 1)}…`;
  },
  wrap: (text, width) => {
    if (isNarrow(text)) return asciiWidth.wrap(text, width);
    const pieces: string[] = [];
    for (let rest = text; rest !== '';) {
      const piece = pieceOf(rest, width) || firstGrapheme(rest);
      pieces.push(piece);
      rest = rest.slice(piece.length);
    }
    return pieces;
  },
};

/** The longest beginning of `text` that fits; a grapheme is never split. */
function pieceOf(text: string, width: number): string {
  let used = 0;
  let end = 0;
  for (const { segment, index } of graphemes.segment(text)) {
    used += stringWidth(segment);
    if (used > width) break;
    end = index + segment.length;
  }
  return text.slice(0, end);
}

function firstGrapheme(text: string): string {
  for (const { segment } of graphemes.segment(text)) return segment;
  return text;
}
