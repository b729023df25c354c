import { SvcError } from '../../base/errors.ts';

interface WaitOptions {
  readonly wait: boolean;
  readonly out: string | undefined;
  readonly failOn: unknown;
  readonly exec: unknown;
  readonly events: unknown;
}

/** Checks the options that only mean something for a wait. @throws SvcError `usage` */
export function checkWaitOptions({ wait, out, failOn, exec, events }: WaitOptions): void {
  if (out === '-')
    throw new SvcError('usage', '--out must be a file: the summary is written to standard output', {
      hint: 'Give a file name, or download the results once they are there:',
      next: ['au', 'download', '<run>', '--out', '-'],
    });
  if (wait) return;
  const problems: readonly (readonly [unknown, string])[] = [
    [failOn, '--fail-on is about the results and needs --wait'],
    [exec, '--exec is about the results and needs --wait'],
    [events, '--events is about the wait and needs --wait'],
  ];
  for (const [given, message] of problems)
    if (given !== undefined) throw new SvcError('usage', message, { hint: 'Add --wait.' });
}
