import { Writable } from 'node:stream';
import { SvcError } from '../../base/errors.ts';
import { type Environment, type InputStream, isUnattended, isUnderAgent } from '../../base/system.ts';
import type { Output } from './output.ts';
import type { Progress } from './progress.ts';
import { cleanText } from './text.ts';

/** The streams and options for prompts. */
export interface PromptOptions {
  /** Opens standard input, which a command without questions leaves closed. */
  readonly stdin: () => InputStream;
  /** Standard error: standard output is for data. */
  readonly out: Output;
  readonly env: Environment;
  /** `--no-input`: never ask. */
  readonly noInput: boolean;
  /** `--yes`: answer ordinary confirmations with yes. */
  readonly yes: boolean;
  readonly signal: AbortSignal;
  /** The painted progress, which pauses while a question is open. */
  readonly progress?: Pick<Progress, 'pause' | 'resume'> | undefined;
}

interface QuestionOptions {
  /** The hint for a run without a person, which names the option to give: "Pass --yes." */
  readonly instead: string;
  readonly next?: readonly string[] | undefined;
  readonly echo?: boolean;
  readonly choices?: string;
}

/**
 * Asks the person at the terminal. Throws `input_needed` at once where prompts are not possible, with `instead` as the hint.
 * Ctrl-C throws `interrupted`.
 */
export class Prompts {
  readonly #options: PromptOptions;

  constructor(options: PromptOptions) {
    this.#options = options;
  }

  /** Whether prompts are possible. A command that asks late checks this first. */
  get canAsk(): boolean {
    const { stdin, out, env, noInput } = this.#options;
    return out.isTerminal && !noInput && !isUnattended(env) && stdin().isTTY === true;
  }

  /** Asks for a secret, without showing the typed text. */
  async promptHidden(question: string, instead: string): Promise<string> {
    return this.#ask(question, { instead, echo: false });
  }

  async promptText(question: string, instead: string): Promise<string> {
    return this.#ask(question, { instead });
  }

  /** Asks a yes-or-no question that has no default and that `--yes` does not answer. Asks again after any other text. */
  async promptMeaning(question: string): Promise<boolean> {
    for (;;) {
      const answer = await this.#ask(question, { instead: '', choices: ' [y/n]' });
      if (isYes(answer)) return true;
      if (/^no?$/i.test(answer.trim())) return false;
    }
  }

  /**
   * Asks yes or no. No is the default and throws `declined`, so that no script takes it for success. `unchanged` is the message
   * for no, such as "nothing was deleted". `next` is a command that needs no answer.
   */
  async confirm(question: string, unchanged: string, next?: readonly string[]): Promise<void> {
    if (this.#options.yes) return;
    const answer = await this.#ask(question, { instead: 'Pass --yes.', next, choices: ' [y/N]' });
    requireYes(answer, unchanged);
  }

  /** Asks yes or no on a terminal. A script continues without a question; a coding agent at a terminal needs `--yes`. */
  async confirmIfPossible(question: string, unchanged: string): Promise<void> {
    const { out, env } = this.#options;
    if (this.canAsk || (out.isTerminal && isUnderAgent(env))) await this.confirm(question, unchanged);
  }

  async #ask(question: string, { instead, next, echo = true, choices = '' }: QuestionOptions): Promise<string> {
    const { progress, signal } = this.#options;
    signal.throwIfAborted();
    const text = cleanText(question, 'keep');
    if (!this.canAsk) throw new SvcError('input_needed', `cannot prompt: ${text}`, { hint: instead, next });
    progress?.pause();
    try {
      return await this.#readLine(`${text}${choices} `, echo);
    } finally {
      progress?.resume();
    }
  }

  async #readLine(prompt: string, echo: boolean): Promise<string> {
    const { createInterface } = await import('node:readline');
    const { stdin, out, signal } = this.#options;
    const answered = new AbortController();
    // The terminal stops echoing before the question shows, so that text typed early does not show either.
    const output = echo ? echoTo(out) : new Writable({ write: (_text, _encoding, taken) => taken() });
    const lines = createInterface({ input: stdin(), output, terminal: true, historySize: 0 });
    try {
      return await new Promise<string>((resolve, reject) => {
        const interrupted = (): void => reject(new SvcError('interrupted', 'interrupted'));
        const ended = (): void => reject(new SvcError('input_needed', 'the input ended without an answer'));
        signal.addEventListener('abort', () => reject(signal.reason as Error), { signal: answered.signal });
        lines
          .once('SIGINT', interrupted)
          .once('close', ended)
          .question(echo ? prompt : '', resolve);
        // The hidden question is shown last, once svc is ready to read keys.
        if (!echo) out.write(prompt).catch(reject);
      });
    } finally {
      answered.abort();
      lines.close();
      if (!echo) await out.write('\n');
    }
  }
}

/** Checks that an answer is yes. `unchanged` is the message for no. @throws SvcError `declined` */
export function requireYes(answer: string, unchanged: string): void {
  if (!isYes(answer)) throw new SvcError('declined', unchanged);
}

function isYes(answer: string): boolean {
  return /^y(?:es)?$/i.test(answer.trim());
}

// The stream on which readline draws. Its writes do not wait, so that text of readline and of svc keeps its order.
function echoTo(out: Output): Writable & { columns?: number } {
  const screen: Writable & { columns?: number } = new Writable({
    decodeStrings: false,
    write: (text, _encoding, taken) => {
      out.write(String(text)).catch(() => {});
      taken();
    },
  });
  screen.columns = out.width;
  return screen;
}
