/**
 * What a terminal must never be sent as it came: it could move the cursor, change the title, hide text or
 * turn it round. Control (C0, C1, and so ESC), format (bidi, zero-width, tags), line and paragraph separators,
 * lone surrogates, and characters that a terminal draws as nothing.
 */
const unsafe = pattern(String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]`);

// The same, without the newline: in printed JSON and YAML a raw newline is layout.
const unsafeInLayout = pattern(String.raw`(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]`);

const PLAIN = /^[\x20-\x7e]*$/;
const PLAIN_LINES = /^[\n\x20-\x7e]*$/;

// Joiners and style selectors of an emoji are dropped without a mark: its parts stay readable.
const emojiGlue = pattern(
  String.raw`(?<=[\p{Extended_Pictographic}\p{EMod}\ufe0f])\u200d(?=\p{Extended_Pictographic})`,
);
const STYLE_SELECTOR = /[\ufe0e\ufe0f]/gu;

/**
 * `text` made safe to show: each dangerous character becomes its visible escape (`\x1b`, `\u202e`), a tab a space.
 * `newlines` says whether a line break stays one (`keep`, CRLF becomes LF) or shows as `\n` (`escape`).
 */
export function cleanText(text: string, newlines: 'escape' | 'keep' = 'escape'): string {
  if (PLAIN.test(text)) return text;
  const keep = newlines === 'keep';
  const lines = keep ? text.replaceAll('\r\n', '\n') : text;
  return lines
    .replaceAll('\t', ' ')
    .replaceAll(emojiGlue(), '')
    .replaceAll(STYLE_SELECTOR, '')
    .replaceAll(keep ? unsafeInLayout() : unsafe(), visible);
}

/** Whether `text` contains a character that {@link cleanText} would change, tabs aside. */
export function isUnsafe(text: string): boolean {
  return !PLAIN.test(text) && text.search(unsafe()) !== -1;
}

/**
 * Returns whether GitHub's runner takes a line of `text` for a command. The lines come from others, who must not command
 * it.
 */
export function hasRunnerCommand(text: string): boolean {
  return RUNNER_COMMAND.test(text);
}

const RUNNER_COMMAND = /^\s*(?:::|##\[)/m;

/** Printed JSON with every dangerous character as its `\u` escape: the same data, and nothing a terminal obeys. */
export function escapeInJson(json: string): string {
  return PLAIN_LINES.test(json) ? json : json.replaceAll(unsafeInLayout(), jsonEscape);
}

// V8 would compile a literal with properties of Unicode at every start.
function pattern(source: string): () => RegExp {
  let made: RegExp | undefined;
  return () => (made ??= new RegExp(source, 'gu'));
}

function visible(character: string): string {
  if (character === '\n') return String.raw`\n`;
  if (character === '\r') return String.raw`\r`;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`;
}

// JSON knows UTF-16 units only, so a character beyond U+FFFF takes two escapes.
function jsonEscape(character: string): string {
  let escaped = '';
  for (let at = 0; at < character.length; at += 1)
    escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  return escaped;
}

/** Measures and cuts text in terminal columns. */
export interface TextWidth {
  /** Columns that `text` takes. */
  width(text: string): number;
  /** `text` in at most `width` columns, with an ellipsis where something was cut off. */
  cut(text: string, width: number): string;
  /** `text` in pieces of at most `width` columns. */
  wrap(text: string, width: number): string[];
}

/** Whether every character of `text` is printable ASCII, one column each. */
export function isNarrow(text: string): boolean {
  return PLAIN.test(text);
}

/** For printable ASCII. The ellipsis is one column too. */
export const asciiWidth: TextWidth = {
  width: (text) => text.length,
  cut: (text, width) => (text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`),
  wrap: (text, width) => {
    const pieces: string[] = [];
    for (let at = 0; at < text.length; at += width) pieces.push(text.slice(at, at + width));
    return pieces;
  },
};

/** Measures text of any script by grapheme: CJK and emoji take two columns, combining marks none. It is slow to load. */
export async function loadUnicodeWidth(): Promise<TextWidth> {
  const { default: stringWidth } = await import('string-width');
  const graphemes = new Intl.Segmenter();
  // The longest beginning of `text` that fits; a grapheme is never split.
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

/** `text` in lines of at most `width` characters, broken at spaces; a quoted command is not broken, so that it can be copied. */
export function wrapWords(text: string, width: number): string[] {
  const words = text.match(/(?:(?<![^\s(])'svc [^']*'|\S)+/g) ?? [];
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

const NARROWEST = 20;

/**
 * Returns text after a lead, wrapped between words to `columns` and indented to its own beginning. If fewer than 20
 * columns are left for it, it begins on the next line. `lead` is `leadWidth` columns wide, escapes aside.
 */
export function hangingIndent(lead: string, leadWidth: number, text: string, columns: number): string {
  const fits = columns - leadWidth >= NARROWEST;
  const indent = ' '.repeat(fits ? leadWidth : 4);
  const lines = wrapWords(text, Math.max(NARROWEST, columns - indent.length));
  return fits ? lead + lines.join(`\n${indent}`) : [lead.trimEnd(), ...lines.map((line) => indent + line)].join('\n');
}
