import { EXIT_CODES } from '../../errors.ts';
import type { Page } from '../help-page.ts';

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

/** What each exit code means, in the words of the command contract. */
export const EXIT_CODE_MEANINGS: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'done'],
  [1, 'local failure: disk, output, a bug'],
  [2, 'usage; or an answer was needed and nobody could be asked'],
  [3, 'configuration or key missing, unreadable, or refused before anything was sent'],
  [4, 'not allowed (401, 403)'],
  [5, 'not found, or an expired job'],
  [6, 'rejected by the service (400, 409, 422, 424), or changed in between'],
  [7, 'rate limited for longer than --max-wait'],
  [8, 'network or server failure after retries: safe to run again'],
  [9, 'outcome unknown: the request may have taken effect; the message says how to find out'],
  [10, 'the job failed, or the threshold asked for (--fail-on, --warn-at, --retention-margin) was met'],
  [11, 'still pending when the time was up; the message holds the command that continues'],
  [12, 'data came back incomplete or altered'],
  [13, 'input refused: a malformed file or body, or something that looks like a card number'],
  [14, 'log entries are known to be missing (--strict)'],
  [129, 'ended by HUP, with the command that continues'],
  [130, 'ended by INT (Ctrl-C), with the command that continues'],
  [143, 'ended by TERM, with the command that continues'],
];

/** The meaning of one exit code, in the words of the command contract. */
export function meaningOf(code: number): string {
  const known = EXIT_CODE_MEANINGS.find(([each]) => each === code)?.[1];
  return known ?? "the command's own";
}
