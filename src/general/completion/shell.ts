import type { Candidates } from './complete.ts';

export interface Question {
  /** The words before the typed one, without `svc`, as the command would get them. */
  readonly words: readonly string[];
  /** The start of the word being typed, as far as the cursor. */
  readonly current: string;
  /** Whether the word is the target of a redirection, which the shell completes itself. */
  readonly redirected?: boolean;
  /** Formats the candidates for the shell's script. */
  print(answer: Candidates): string;
}

/** A shell: its completion script, and the protocol between the script and svc. */
export interface Shell {
  readonly name: string;
  /**
   * Returns the script, which passes the typed line to `svc __complete` and offers the result. The script names no
   * commands, so it never becomes outdated, and it evaluates nothing that was typed or returned.
   */
  readonly script: () => string;
  /** Parses the arguments that the script passes. */
  read(args: readonly string[]): Question;
}

/** Returns the first line of most results: the kind of completion, and whether a space follows the word. */
export function header({ kind, open }: Candidates): string {
  return open ? `${kind} nospace` : kind;
}

export function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}

/** Joins `value<TAB>description`, without the tab if there is no description. */
export function described(value: string, description: string): string {
  return description === '' ? value : `${value}\t${description}`;
}
