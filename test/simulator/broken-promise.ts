/** A promise that a history broke. */
export interface BrokenPromise {
  /** What the failed check says. */
  readonly message: string;
  /** The commands of the history, and how each ended. */
  readonly story: string;
}

const OUTPUT = /^('svc .*' ended with exit code \d+(?:, but [^:]*)?): .*$/s;
/** A word with a number, such as an id, a time, a count or a row. An exit code is none, since it says what happened. */
const NUMBERED = /(?<!\S)(?<!exit code )\S*\d\S*/g;
const LIST = /#(?:[ ,]+(?:and )?#)+/g;

/**
 * Returns the words that name the promise. They leave out numbers, ids, times and the output of a command, so that they
 * are equal when the same check fails in another history.
 */
export function promiseOf({ message }: Pick<BrokenPromise, 'message'>): string {
  const words = OUTPUT.exec(message)?.[1] ?? message;
  const command = words.replace(/^'svc (.*)' ended/s, (_, argv: string) => `'svc ${commandOf(argv)}' ended`);
  return command.replaceAll(NUMBERED, '#').replaceAll(LIST, '#').trim();
}

/** Returns the words of a command without its arguments and options. */
function commandOf(argv: string): string {
  return /^[a-z]+(?: [a-z]+)?(?= |$)/.exec(argv)?.[0] ?? '';
}
