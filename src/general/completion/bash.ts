import { text as script } from '../../../completions/svc.bash';
import { readLine, unquote, quoted } from './bash-line.ts';
import { type Shell, lines, header } from './shell.ts';

/**
 * The completion of bash 3.2 and later, which has no descriptions. COMP_WORDS is unusable, because bash splits words at =
 * and : and drops the blanks between them. The script therefore passes the line up to the cursor, and the end of the word
 * that readline will replace ($2).
 */
export const bash: Shell = {
  name: 'bash',
  script: () => script,
  read([tail = '', line = '']) {
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
        const words = answer.candidates.flatMap(([value]) => insertion(answer.prefix + value) ?? []);
        return lines([header(answer), ...words]);
      },
    };
  },
};
