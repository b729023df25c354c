import { Writable } from 'node:stream';
import { SvcError } from '../../base/errors.ts';
import { type Environment, type InputStream, isUnattended, isUnderAgent } from '../../base/system.ts';
import type { Output } from './output.ts';
import type { Progress } from './progress.ts';
import { cleanText } from './text.ts';

/** The streams and options that decide whether and how questions are asked. */
export interface PromptOptions {
  /** Opens standard input for the first question. A command without questions leaves it closed. */
  readonly stdin: () => InputStream;
  /** Stderr: questions are not data. */
  readonly out: Output;
  readonly env: Environment;
  /** `--no-input`: never ask. */
  readonly noInput: boolean;
  /** `--yes`: ordinary confirmations are answered yes. */
  readonly yes: boolean;
  readonly signal: AbortSignal;
  /** What is painted on the terminal, except while a question is open. */
  readonly progress?: Pick<Progress, 'pause' | 'resume'> | undefined;
}

interface Asking {
  readonly instead: string;
  readonly next?: readonly string[] | undefined;
  readonly echo?: boolean;
  readonly choices?: string;
}

/**
 * Questions to the person at the terminal. Where prompting is not possible they throw `input_needed` at once; `instead`
 * is the imperative hint that names the flag to give: "Pass --yes." Ctrl-C throws `interrupted`.
 */
export class Prompts {
  readonly #options: PromptOptions;

  constructor(options: PromptOptions) {
    this.#options = options;
  }

  /** Whether questions can be asked. A command that asks late checks this first. */
  get canAsk(): boolean {
    const { stdin, out, env, noInput } = this.#options;
    return out.isTerminal && !noInput && !isUnattended(env) && stdin().isTTY === true;
  }

  /** Asks for a secret: nothing that is typed shows. */
  async promptHidden(question: string, instead: string): Promise<string> {
    return this.#ask(question, { instead, echo: false });
  }

  async promptText(question: string, instead: string): Promise<string> {
    return this.#ask(question, { instead });
  }

  /** Asks a question without a default. Any text but yes or no is asked about again, and --yes is no answer. */
  async promptMeaning(question: string): Promise<boolean> {
    for (;;) {
      const answer = await this.#ask(question, { instead: '', choices: ' [y/n]' });
      if (isYes(answer)) return true;
      if (/^no?$/i.test(answer.trim())) return false;
    }
  }

  /**
   * Asks yes or no; no is the default, and throws `declined`, so that no script takes it for work that was done.
   * `unchanged` says what a no leaves, such as "nothing was deleted". `next` is the command that needs no answer, if the
   * typed line does not show it.
   */
  async confirm(question: string, unchanged: string, next?: readonly string[]): Promise<void> {
    if (this.#options.yes) return;
    const answer = await this.#ask(question, { instead: 'Pass --yes.', next, choices: ' [y/N]' });
    requireYes(answer, unchanged);
  }

  /** Asks yes or no on a terminal. A script has typed what it wants; an agent at a terminal needs a person's `--yes`. */
  async confirmIfPossible(question: string, unchanged: string): Promise<void> {
    const { out, env } = this.#options;
    if (this.canAsk || (out.isTerminal && isUnderAgent(env))) await this.confirm(question, unchanged);
  }

  async #ask(question: string, { instead, next, echo = true, choices = '' }: Asking): Promise<string> {
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
    // The terminal stops echoing here, before the question shows: what is typed at once must not show either.
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
        // Last of all, so that no key that answers it can come too early.
        if (!echo) out.write(prompt).catch(reject);
      });
    } finally {
      answered.abort();
      lines.close();
      if (!echo) await out.write('\n');
    }
  }
}

/** Throws `declined` unless the answer is yes. `unchanged` says what a no leaves. */
export function requireYes(answer: string, unchanged: string): void {
  if (!isYes(answer)) throw new SvcError('declined', unchanged);
}

function isYes(answer: string): boolean {
  return /^y(?:es)?$/i.test(answer.trim());
}

// readline draws on this. It does not wait, so that its text and ours leave in the order in which they were written.
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
