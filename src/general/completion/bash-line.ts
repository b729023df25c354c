// Reads a command line as bash does, for completion.

/** The quotation mark that is still open at the end of a text. */
type OpenQuote = '' | '"' | "'";

interface Line {
  /** The complete words, starting with the command, unquoted and without redirections. */
  readonly words: readonly string[];
  /** The word at the cursor as typed, with its quotes. */
  readonly raw: string;
  readonly redirected: boolean;
}

const PART = /\$\([^)]*\)?|\\(?:.|$)|'[^']*'?|"(?:\\.|[^"\\])*\\?"?|[^\s<>&|;'"\\]/gsu;
const TOKEN = new RegExp(`[<>&|;]+|(?:${PART.source})+`, 'gsu');
const CLOSED = /^(?:'[^']*'|"(?:\\.|[^"\\])*")$/su;
const OPERATOR = /^[<>&|;]/;

/** Splits a line as bash does, without evaluating anything: `$(date)` is the word `$(date)`. */
export function readLine(line: string): Line {
  const found = [...line.matchAll(TOKEN)].map((match) => ({ text: match[0], start: match.index }));
  const last = found.at(-1);
  const ends = last !== undefined && last.start + last.text.length === line.length;
  if (!ends || OPERATOR.test(last.text)) found.push({ text: '', start: line.length });
  const words: string[] = [];
  let raw = '';
  let redirected = false;
  for (const [index, { text, start }] of found.entries()) {
    const before = found[index - 1];
    redirected = before !== undefined && OPERATOR.test(before.text);
    const isNumber = /^\d+$/.test(text) && found[index + 1]?.start === start + text.length;
    if (index === found.length - 1) raw = text;
    else if (!OPERATOR.test(text) && !redirected && !isNumber) words.push(unquote(text).text);
  }
  return { words, raw, redirected };
}

/** Unquotes a typed word, and returns the quotation mark still open at its end. */
export function unquote(raw: string): { readonly text: string; readonly open: OpenQuote } {
  let text = '';
  let open: OpenQuote = '';
  for (const [part] of raw.matchAll(PART)) {
    const quote = part[0] === '"' || part[0] === "'" ? part[0] : '';
    const closed = CLOSED.test(part);
    if (quote === '') text += part.startsWith('\\') ? part.slice(1) : part;
    else {
      const inner = part.slice(1, closed ? -1 : undefined);
      text += quote === '"' ? inner.replaceAll(/\\(["\\$`])/g, '$1') : inner;
    }
    open = quote !== '' && !closed ? quote : '';
  }
  return { text, open };
}

/** Quotes a text for insertion, inside an open quotation or outside quotes; undefined if quoting is impossible. */
export function quoted(text: string, open: OpenQuote): string | undefined {
  if (open === "'") return text.includes("'") ? undefined : text;
  // In double quotes bash expands ! from its history, and a backslash does not prevent that.
  if (open === '"') return text.includes('!') ? undefined : text.replaceAll(/["\\$`]/g, String.raw`\$&`);
  return text.replaceAll(new RegExp(String.raw`[^\p{L}\p{N}_@%+=:,./^-]`, 'gu'), String.raw`\$&`);
}
