import { defineCommand, Preview } from '../../app/command.ts';
import { argument, choice, flag, text, value, type ValueParser } from '../../app/parameter.ts';
import { SvcError } from '../../errors.ts';
import { eventsParameter } from './options.ts';
import { checkedFileView, submissionView } from './view.ts';

const cycleName: ValueParser<string> = (value) => {
  const name = value.trim().toLowerCase();
  if (/^[a-z0-9._-]{1,40}$/.test(name)) return name;
  throw new SvcError(
    'usage',
    'must be 1 to 40 letters, digits, dots, underscores or hyphens, such as 2026-12',
  );
};

const parameters = {
  file: argument('<file|->', 'a request file, or - for standard input', text),
  wait: flag('--wait', 'wait until it is done, download the results and summarize them'),
  out: value(
    '--out <file>',
    'where to write the results, now or when they are downloaded later; default: <file> with .results.csv appended',
    text,
  ),
  force: flag('--force', 'replace a result file that exists'),
  dryRun: flag('--dry-run', 'check the file and show what would be done; nothing is sent'),
  cycle: value(
    '--cycle <name>',
    'name of this refresh, such as 2026-12: a file is submitted once in each cycle, however often this is run',
    cycleName,
  ),
  adopt: value('--adopt <run>', 'with --cycle: use this run of the same file, started without a cycle', text),
  again: flag('--again', 'submit the file again, whatever was submitted before'),
  tenant: value(
    '--tenant <id>',
    'tenant of the key, where the key cannot read it and the run depends on it',
    text,
  ),
  runDir: value('--run-dir <dir>', 'where to record the run (default: the state directory)', text),
  failOn: choice(
    '--fail-on <class>',
    'exit with 10 when a row ended in an error (err), or in a warning too (wrn)',
    ['err', 'wrn'],
  ),
  events: eventsParameter,
} as const;

/** `svc au submit` */
export const submit = defineCommand({
  description:
    'No job is created for an invalid file, and nothing is paid for twice: submitting the same file again resumes its run, or shows its results within 7 days of their completion (status already_submitted); after that, --cycle or --again is needed to start another run (exit code 6). A production job takes up to seven days: the wait can be interrupted and resumed with svc au wait.',
  examples: [
    ['svc au submit tokens.csv --wait', 'from the file to the results'],
    ['svc au submit tokens.csv', 'submit it without waiting'],
    ['svc au submit tokens.csv --cycle 2026-12', 'the same file each month, safe to run again'],
    ['make-tokens | svc au submit - --wait --out results.csv --fail-on err', 'in a pipeline'],
  ],
  permissions: ['account-updater:job:create', 'account-updater:job:read'],
  exitCodes: [3, 6, 9, 10, 11, 12, 13, 130],
  worksElsewhere: true,
  fields: [...new Set([...submissionView.fields, ...checkedFileView.fields])],
  parameters,
  async run(context, input) {
    const { submission, submissionRequest } = await import('./submission.ts');
    if (input.dryRun && context.globals.curl) return new Preview(await submissionRequest(context, input));
    return submission(context, input);
  },
  async request(context, input) {
    return (await import('./submission.ts')).submissionRequest(context, input);
  },
});
