import { defineCommand, Preview } from '../../app/command.ts';
import { argument, choice, flag, value } from '../../app/parameter.ts';
import { text, type ValueParser } from '../../app/values.ts';
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
  wait: flag('--wait', 'wait until it is done, download the results and summarise them'),
  out: value(
    '--out <file>',
    'where the results go, now or when they are brought later; by default <file> with .results.csv at its end',
    text,
  ),
  force: flag('--force', 'replace a result file that exists'),
  dryRun: flag('--dry-run', 'check the file and say what would be done; nothing is sent'),
  cycle: value(
    '--cycle <name>',
    'the refresh that this is, say 2026-12: a file is submitted once for each, however often this is run',
    cycleName,
  ),
  adopt: value(
    '--adopt <run>',
    'with --cycle: the run of this file, begun without a cycle, that is the one of this cycle',
    text,
  ),
  again: flag('--again', 'submit the file once more, whatever was submitted before'),
  tenant: value(
    '--tenant <id>',
    'the tenant that the key belongs to, where the service does not show it and it decides which run is meant',
    text,
  ),
  runDir: value('--run-dir <dir>', 'where the run is recorded; by default in the state directory', text),
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
    'Nothing is created for a file that is not in order, and nothing is paid for twice: the same file again resumes its run, or shows its results within 7 days of their completion (status already_submitted); after that, --cycle or --again says that another run is meant (exit code 6). A production job takes up to seven days: the wait can be ended and taken up again with svc au wait.',
  examples: [
    ['svc au submit tokens.csv --wait', 'from the file to the results'],
    ['svc au submit tokens.csv', 'hand it in and go on'],
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
