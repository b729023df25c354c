import { textToSend, type ValueParser } from '../../cli/app/value-parsers.ts';

/** The form of the ids of runs, in which one of some thousand has the digits of a card number. */
const RUN_ID = /run-\d{8}-[0-9a-f]{8}-[0-9a-f]{4}/g;

/** Tells whether a word is the id of a run. No new cycle gets such a name. */
export function isRunId(word: string): boolean {
  return word.replace(RUN_ID, '') === '';
}

/** Parses a word that names a run by its id or directory, a job or a cycle, and refuses a card number. */
export const runWord: ValueParser<string> = (value) => {
  textToSend(value.replaceAll(RUN_ID, 'run'));
  return value;
};
