import type { Candidates } from './complete.ts';

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
   * Hands what was typed to `svc __complete` and does with the answer what the shell has for it. It contains no words of
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
