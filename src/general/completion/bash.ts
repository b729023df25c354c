import { text as script } from '../../../completions/svc.bash';
import { readLine, unquote, quoted } from './bash-line.ts';
import { type Shell, lines, header } from './shell.ts';

/**
 * The completion of bash 3.2 and later, which shows descriptions in the list after a second TAB. COMP_WORDS is
 * unusable, because bash splits words at = and : and drops the blanks between them. The script therefore passes the
 * line up to the cursor, and the end of the word that readline will replace ($2).
 */
export const bash: Shell = {
  name: 'bash',
  script: () => script,
  read([type = '', columns = '', tail = '', line = '']) {
    const { words, raw, redirected } = readLine(line);
    const { text: current, open } = unquote(raw);
    // readline replaces only the end of the word, so the beginning must stay as typed.
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

// Values of COMP_TYPE with which bash lists the candidates and inserts only their common prefix: ? after a second TAB,
// and ! or @ if a setting requests the list at once.
const LISTING = new Set(['63', '33', '64']);

// Each candidate is padded to one line, because bash itself supports no descriptions.
function table(found: readonly (readonly [string, string])[], columns: number): string[] {
  const width = Math.max(...found.map(([word]) => word.length));
  const room = columns - width - 6;
  return found.map(([word, description]) => {
    if (description === '' || room < 12) return word;
    const shown = description.length > room ? `${description.slice(0, room - 1)}…` : description;
    return `${word.padEnd(width)}  (${shown})`;
  });
}
