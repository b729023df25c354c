import { SvcError } from '../../base/errors.ts';
import { flag, type Input, optionalArgument, value, writing } from '../../cli/app/parameter.ts';
import { text, textToSend } from '../../cli/app/value-parsers.ts';
import { failOnParameter } from '../results/fail-on.ts';

export const resumeParameters = {
  of: optionalArgument('[cycle|job]', 'a cycle, or the id of a job', textToSend),
  wait: flag('--wait', 'wait until it is completed, and get the results'),
  out: writing(value('--out <file>', 'where to write the results of a cycle', text)),
  force: flag('--force', 'replace a result file that exists'),
  dryRun: flag('--dry-run', 'show what would be done; send nothing'),
  failOn: failOnParameter,
} as const;

export type ResumeInput = Input<typeof resumeParameters>;

/** What a command goes on with. */
export type Resumed = 'everything' | 'cycle' | 'job';

/** The options that only mean something for some of what can be resumed. */
const OPTIONS: readonly (readonly [keyof ResumeInput, option: string, of: readonly Resumed[]])[] = [
  ['out', '--out', ['cycle']],
  ['force', '--force', ['cycle']],
  ['failOn', '--fail-on', ['everything', 'cycle']],
];

/** Checks that each option means something for what is resumed. @throws SvcError `usage` */
export function checkResumeOptions(input: ResumeInput, resumed: Resumed): void {
  if (input.out === '-')
    throw new SvcError('usage', '--out must be a file: the summary is written to standard output', {
      hint:
        resumed === 'cycle' ? 'Give a file name:' : 'Give a file name, or download the results once they are there:',
      next:
        resumed === 'cycle'
          ? ['au', 'resume', input.of ?? '<cycle>', '--wait', '--out', '<file>']
          : ['au', 'download', input.of ?? '<job>', '--out', '-'],
    });
  for (const [name, option, of] of OPTIONS) {
    if (of.includes(resumed) || input[name] === undefined || input[name] === false) continue;
    const about = of.map((each) => (each === 'everything' ? 'everything open' : `a ${each}`)).join(' or ');
    const given = resumed === 'everything' ? 'none is named' : `this is a ${resumed}`;
    throw new SvcError('usage', `${option} is about ${about}, and ${given}`, {
      hint: resumed === 'everything' ? 'Name one of what is open:' : 'See what is open:',
      next: ['au', 'status'],
    });
  }
}
