import { EXIT_CODES } from '../../errors.ts';
import { EXIT_CODE_MEANINGS } from '../exit-codes.ts';
import type { Page } from '../page.ts';

/** `svc help exit-codes` */
export function exitCodes(): Page {
  const codes = [...new Set(Object.values(EXIT_CODES))];
  return {
    title: 'Exit codes: what a script can tell from the end of a command',
    sections: [
      {
        title: 'Examples',
        examples: [
          [
            'svc --sandbox tenant usage --quiet --warn-at 80% || test $? = 10',
            'go on when the threshold was met, but not when something failed',
          ],
        ],
      },
      { title: 'Codes', rows: EXIT_CODE_MEANINGS.map(([code, meaning]) => [String(code), meaning]) },
      {
        title: 'Names of failures: `code` of the error object that a machine format writes on stderr',
        text: 'The other members are message, hint, status, retryable, exit_code, request_id and command, and facts of the failure.',
        rows: codes.map((code) => [String(code), namesOf(code).join(', ')]),
      },
    ],
  };
}

function namesOf(code: number): string[] {
  return Object.entries(EXIT_CODES).flatMap(([name, exit]) => (exit === code ? [name] : []));
}
