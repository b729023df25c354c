import { quoted, readLine, unquote } from './bash-words.ts';
import { header, lines, type Shell } from './shell.ts';

// COMP_WORDS is of no use: bash cuts words at = and :, and leaves no trace of the blanks between. So the tool gets
// the line up to the cursor, and beside it the end of the word that readline will replace ($2).
const SCRIPT = String.raw`# Completion of svc for bash, as 'svc completion bash' prints it.

_svc() {
  local answer how value
  COMPREPLY=()
  compopt +o default 2>/dev/null
  answer=$(command svc __complete bash "$COMP_TYPE" "$COLUMNS" "$2" "${'$'}{COMP_LINE:0:COMP_POINT}" </dev/null 2>/dev/null) || return 0
  {
    read -r how
    while IFS= read -r value; do
      COMPREPLY+=("$value")
    done
  } <<<"$answer"
  case $how in
    files*) compopt -o default 2>/dev/null ;;
    directories*) compopt -o dirnames 2>/dev/null ;;
    *nospace*) compopt -o nospace 2>/dev/null ;;
  esac
  compopt -o nosort 2>/dev/null
  return 0
}

complete -o default -F _svc svc
`;

/** bash 3.2 and later; descriptions show in the list that a second TAB brings. */
export const bash: Shell = {
  name: 'bash',
  script: SCRIPT,
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
      tell(answer) {
        const found = answer.candidates.flatMap(([value, description]) => {
          const word = insertion(answer.prefix + value);
          return word === undefined ? [] : [[word, description] as const];
        });
        const isList = LISTING.has(type) && found.length > 1;
        return lines([header(answer), ...(isList ? table(found, Number(columns) || 80) : found.map(first))]);
      },
    };
  },
};

// COMP_TYPE, where candidates are listed and no more than their common start is typed: ? after a second TAB, and !
// or @ where a setting asks for the list at once.
const LISTING = new Set(['63', '33', '64']);

function first([word]: readonly [string, string]): string {
  return word;
}

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
