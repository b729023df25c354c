import { isSvcError, SvcError } from '../../base/errors.ts';
import { option } from '../../cli/app/hint.ts';
import type { Threshold } from '../results/fail-on.ts';

interface WaitOptions {
  readonly wait: boolean;
  readonly out: string | undefined;
  readonly failOn: unknown;
}

/** Checks the options that only mean something for a wait. @throws SvcError `usage` */
export function checkWaitOptions({ wait, out, failOn }: WaitOptions): void {
  if (out === '-')
    throw new SvcError('usage', '--out must be a file: the summary is written to standard output', {
      hint: 'Give a file name, or download the results once they are there:',
      next: ['au', 'download', '<job>', '--out', '-'],
    });
  if (!wait && failOn !== undefined)
    throw new SvcError('usage', '--fail-on is about the results and needs --wait', { hint: 'Add --wait.' });
}

/** The options of a command that waits, as they were typed. */
export interface TypedWait {
  readonly wait: boolean;
  readonly out: string | undefined;
  readonly force: boolean;
  readonly failOn: Threshold | undefined;
}

/** The options of resume, as they were typed. */
export interface ResumeOptions extends TypedWait {
  readonly dryRun: boolean;
}

/** Returns the words of the options of an interrupted command. */
export function optionWords({ wait, out, force, failOn }: TypedWait): string[] {
  return [
    ...(wait ? ['--wait'] : []),
    ...option('--out', out),
    ...(force ? ['--force'] : []),
    ...option('--fail-on', failOn?.words),
  ];
}

/** Adds --wait to a command that lacks it, but for a command that has no such option. */
export function waitingWords(words: readonly string[]): readonly string[] {
  return words.includes('--wait') || !['submit', 'resume'].includes(words[1] ?? '') ? words : [...words, '--wait'];
}

/** Adds the typed options to an error whose next command submits a file that failed. */
export async function keepingOptions(options: TypedWait, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isSvcError(error, 'job_failed') || error.next?.[1] !== 'submit') throw error;
    // Without --wait, submit refuses --fail-on, which is about results.
    const kept = options.wait ? options : { ...options, failOn: undefined };
    throw error.with({ next: [...error.next, ...optionWords(kept).filter((word) => !error.next?.includes(word))] });
  }
}
