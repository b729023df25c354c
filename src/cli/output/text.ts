// Makes text safe for a terminal.

/**
 * Characters that could move the cursor, change the title, or hide or reverse text on a terminal: control characters (C0, C1,
 * and so ESC), format characters (bidi, zero-width, tags), line and paragraph separators, lone surrogates, and characters
 * that a terminal does not draw.
 */
const unsafe = pattern(String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]`);

// The same without the newline, which is layout in printed JSON and YAML.
const unsafeInLayout = pattern(String.raw`(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]`);

const PLAIN = /^[\x20-\x7e]*$/;
const PLAIN_LINES = /^[\n\x20-\x7e]*$/;

// Joiners and style selectors of an emoji are removed without an escape, since the parts of the emoji stay readable.
const emojiGlue = pattern(
  String.raw`(?<=[\p{Extended_Pictographic}\p{EMod}\ufe0f])\u200d(?=\p{Extended_Pictographic})`,
);
const STYLE_SELECTOR = /[\ufe0e\ufe0f]/gu;

/**
 * Makes a text safe to show: an unsafe character becomes a visible escape (`\x1b`, `\u202e`), a tab becomes a space. Line
 * breaks become `\n`, or with `keep` stay line breaks (CRLF becomes LF).
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

/** Whether every character of a text is printable ASCII, one column each. */
export function isNarrow(text: string): boolean {
  return PLAIN.test(text);
}

/** Whether a text contains a character that {@link cleanText} escapes. */
export function isUnsafe(text: string): boolean {
  return !PLAIN.test(text) && text.search(unsafe()) !== -1;
}

/** Whether GitHub's runner would run a line of the text as a command. Text from the service must not command the runner. */
export function hasRunnerCommand(text: string): boolean {
  return RUNNER_COMMAND.test(text);
}

const RUNNER_COMMAND = /^\s*(?:::|##\[)/m;

/** Escapes every unsafe character of printed JSON as `\u…`: the data stay equal, and safe for a terminal. */
export function escapeInJson(json: string): string {
  return PLAIN_LINES.test(json) ? json : json.replaceAll(unsafeInLayout(), jsonEscape);
}

// Compiled on first use: V8 would compile a literal with Unicode properties at every start.
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

// JSON escapes are UTF-16 units, so a character beyond U+FFFF takes two.
function jsonEscape(character: string): string {
  let escaped = '';
  for (let at = 0; at < character.length; at += 1)
    escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  return escaped;
}
