import { text as script } from '../../../completions/svc.bash';
import type { Candidates } from './complete.ts';

/**
 * bash 3.2 and later; descriptions show in the list that a second TAB brings. COMP_WORDS is of no use: bash cuts words at
 * = and :, and leaves no trace of the blanks between. So the tool gets the line up to the cursor, and beside it the end
 * of the word that readline will replace ($2).
 */
export const bash: Shell = {
  name: 'bash',
  script: () => script,
  read([type = '', columns = '', tail = '', line = '']) {
    const { words, raw, redirected } = readLine(line);
    const { text: current, open } = unquote(raw);
    // Of the word only its end, as readline sees it, is replaced: what stands before stays.
    const head = raw.endsWith(tail) ? unquote(raw.slice(0, raw.length - tail.length)).text : '';
    const insertion = (word: string): string | undefined =>
      word.startsWith(head) ? quoted(word.slice(head.length), open) : undefined;
    return {
      words: words.slice(1),
      current,
      redirected,
      print(answer) {
        const found = answer.candidates.flatMap(([value, description]) => {
          const word = insertion(answer.prefix + value);
          return word === undefined ? [] : [[word, description] as const];
        });
        const isList = LISTING.has(type) && found.length > 1;
        return lines([header(answer), ...(isList ? table(found, Number(columns) || 80) : found.map(([word]) => word))]);
      },
    };
  },
};

// COMP_TYPE, where candidates are listed and no more than their common start is typed: ? after a second TAB, and !
// or @ where a setting asks for the list at once.
const LISTING = new Set(['63', '33', '64']);

// One candidate a line, as wide as the terminal lets it be; bash itself knows no descriptions.
function table(found: readonly (readonly [string, string])[], columns: number): string[] {
  const width = Math.max(...found.map(([word]) => word.length));
  const room = columns - width - 6;
  return found.map(([word, description]) => {
    if (description === '' || room < 12) return word;
    const shown = description.length > room ? `${description.slice(0, room - 1)}…` : description;
    return `${word.padEnd(width)}  (${shown})`;
  });
}

/** A quotation that is still open where the text ends. */
export type OpenQuote = '' | '"' | "'";

export interface Line {
  /** Words that are complete, unquoted, from the command on; redirections are left out. */
  readonly words: readonly string[];
  /** The word at the cursor as it was typed, with its quotes. */
  readonly raw: string;
  readonly redirected: boolean;
}

const PART = /\$\([^)]*\)?|\\(?:.|$)|'[^']*'?|"(?:\\.|[^"\\])*\\?"?|[^\s<>&|;'"\\]/gsu;
const TOKEN = new RegExp(`[<>&|;]+|(?:${PART.source})+`, 'gsu');
const CLOSED = /^(?:'[^']*'|"(?:\\.|[^"\\])*")$/su;
const OPERATOR = /^[<>&|;]/;

/** Splits a line as bash does, and evaluates nothing: `$(date)` is the word `$(date)`. */
export function readLine(line: string): Line {
  const found = [...line.matchAll(TOKEN)].map((match) => ({ text: match[0], start: match.index }));
  const last = found.at(-1);
  const ends = last !== undefined && last.start + last.text.length === line.length;
  if (!ends || OPERATOR.test(last.text)) found.push({ text: '', start: line.length });
  const words: string[] = [];
  let [raw, redirected] = ['', false];
  for (const [index, { text, start }] of found.entries()) {
    const before = found[index - 1];
    redirected = before !== undefined && OPERATOR.test(before.text);
    const isNumber = /^\d+$/.test(text) && found[index + 1]?.start === start + text.length;
    if (index === found.length - 1) raw = text;
    else if (!OPERATOR.test(text) && !redirected && !isNumber) words.push(unquote(text).text);
  }
  return { words, raw, redirected };
}

/** The text that a typed word stands for, and the quotation that is open at its end. */
export function unquote(raw: string): { readonly text: string; readonly open: OpenQuote } {
  let [text, open]: [string, OpenQuote] = ['', ''];
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

/** A text as it can be typed inside the open quotation, or without one; undefined where it cannot. */
export function quoted(text: string, open: OpenQuote): string | undefined {
  if (open === "'") return text.includes("'") ? undefined : text;
  // In double quotes a ! is history, and no backslash helps.
  if (open === '"') return text.includes('!') ? undefined : text.replaceAll(/["\\$`]/g, String.raw`\$&`);
  return text.replaceAll(new RegExp(String.raw`[^\p{L}\p{N}_@%+=:,./^-]`, 'gu'), String.raw`\$&`);
}

export interface Question {
  /** The words before the one being typed, without `svc`, as the command would get them. */
  readonly words: readonly string[];
  /** The start of the word being typed, as far as the cursor. */
  readonly current: string;
  /** The word is the target of a redirection, which is the shell's own matter. */
  readonly redirected?: boolean;
  /** The answer in the form that the shell's script reads. */
  print(answer: Candidates): string;
}

/** One shell: the script that it loads, and how the script and the tool talk. */
export interface Shell {
  readonly name: string;
  /**
   * Hands what was typed to `svc __complete` and does with the answer what the shell has for it. It holds no words of
   * the tool, so it need not change with them, and it evaluates nothing that was typed or answered.
   */
  readonly script: () => string;
  /** Reads the arguments that the script gives. */
  read(args: readonly string[]): Question;
}

/** The first line of most answers: what the shell is to do, and whether no space is to follow the word. */
export function header({ kind, open }: Candidates): string {
  return open ? `${kind} nospace` : kind;
}

export function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}

/** `value<TAB>description`, without the tab where there is none. */
export function described(value: string, description: string): string {
  return description === '' ? value : `${value}\t${description}`;
}
