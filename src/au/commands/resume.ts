import { jobOrListRequest, jobView } from '../job/job-view.ts';
import { isJobId, readJob } from '../job/job.ts';
import { resumable } from '../job/resumable.ts';
import { cycleOrJob } from '../jobs/named-cycle.ts';
import { optionWords } from '../jobs/options.ts';
import { openCycleView, resumeAll } from '../jobs/resume-all.ts';
import { resumeCycle, resumedCycleView } from '../jobs/resume-cycle.ts';
import { resumeJob } from '../jobs/resume-job.ts';
import { failOnParameter } from '../results/fail-on.ts';
import { wholeJobId } from '../whole-job-id.ts';
import { SvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { type Input, flag, optionalArgument, value, writing } from '../../cli/app/parameter.ts';
import { text, textToSend } from '../../cli/app/value-parsers.ts';

const parameters = {
  of: optionalArgument('[cycle|job]', 'a cycle, or the id of a job', textToSend),
  wait: flag('--wait', 'wait until it is completed, and get the results; those of one job: au download'),
  out: writing(value('--out <file>', 'where to write the results of a cycle', text)),
  force: flag('--force', 'replace a result file that exists'),
  dryRun: flag('--dry-run', 'show what would be done; send nothing'),
  failOn: failOnParameter,
} as const;

type ResumeInput = Input<typeof parameters>;

const VIEWS = [openCycleView, resumedCycleView, jobView];

export const resume = defineCommand({
  description:
    'Without an argument, goes on with every cycle that has jobs whose results nobody received: finishes uploads that this machine began, polls each job once, and writes results that are ready. The jobs may be those of any machine that shares the ledger. Nothing that the service may already have is sent again. A production job takes up to seven days: interrupt the wait, and continue it at any time.',
  details:
    'An upload goes on from the rows that this machine keeps, so that the file itself is not needed. Rows that no job has yet are sent by submitting their file again. With --wait, polls after 2 s, then at increasing intervals up to five minutes, and goes on through outages of the service. The results of a cycle are written to <cycle>.results.csv unless --out names a file, and only when each of its jobs is completed. A file without a cycle has a cycle file-<hash>, and its results go to <file>.results.csv, or to file-<hash>.results.csv if it came from standard input or, without an argument, if another file has the first name. To send the rows of failed jobs again, run svc au submit. Without an argument one failing cycle does not stop the others, and the exit code is that of the worst: a failed job (10), an unknown outcome (9), results that could not be verified (12), then what you have to fix, then what may pass without action (8, 7).',
  examples: [
    ['svc au resume', 'everything open, such as from cron every half hour'],
    ['svc au resume 2026-12 --wait', 'the results of a whole cycle, on any machine that shares the ledger'],
    [
      'svc au resume 5f0c… --wait --timeout 50m',
      'one job, in CI: 11 when it is still pending then, else svc au download gets its results',
    ],
  ],
  permissions: ['account-updater:job:create', 'account-updater:job:read'],
  exitCodes: [
    3,
    9,
    [10, 'a job failed, or --fail-on was met'],
    [11, 'still pending, or another process works on it'],
    12,
    13,
    130,
  ],
  changes: true,
  fields: [...new Set(VIEWS.flatMap(({ fields }) => fields))],
  parameters,
  run: resumeNamed,
  request: (_, { of }) => jobOrListRequest(of),
});

/** Continues all open cycles, or the typed cycle or job. Resolves to the exit code. */
async function resumeNamed(context: Context, input: ResumeInput): Promise<number | undefined> {
  const { of } = input;
  if (of === undefined) {
    checkOptions(input, 'everything');
    return resumeAll(context, input);
  }
  const resumed = isJobId(of) ? 'job' : 'cycle';
  checkOptions(input, resumed);
  const again = ['au', 'resume', of, ...optionWords(input), ...(input.dryRun ? ['--dry-run'] : [])];
  if (resumed === 'job') return resumable(again, { job: of }, resumeJob(context, of, input));
  const resuming = cycleOrJob<undefined, undefined>(
    async () => {
      await resumeCycle(context, of, input);
      return undefined;
    },
    async () => {
      // An unknown name is reported before a wrong option.
      const job = await wholeJobId(context, of);
      await readJob(await context.client(), job);
      checkOptions(input, 'job');
      return resumable(again, { job }, resumeJob(context, job, input));
    },
  );
  return resumable(again, { cycle: of }, resuming);
}

/** What `au resume` continues. */
type ResumeKind = 'everything' | 'cycle' | 'job';

/** The options that apply only to some of what can be resumed, with what they apply to. */
const OPTIONS: readonly (readonly [keyof ResumeInput, option: string, of: readonly ResumeKind[]])[] = [
  ['out', '--out', ['cycle']],
  ['force', '--force', ['cycle']],
  ['failOn', '--fail-on', ['everything', 'cycle']],
];

/** Refuses options that do not apply to what is resumed. @throws SvcError `usage` */
function checkOptions(input: ResumeInput, resumed: ResumeKind): void {
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
