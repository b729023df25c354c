import type { CommandFacts, Context, PreviewRequest } from '../../cli/app/command.ts';
import { submissionView } from '../results/submission.ts';
import { isJobId, readJob } from '../run/job.ts';
import { jobView } from '../run/job-view.ts';
import { runOrCycle } from '../run/recorded-runs.ts';
import { jobOrListRequest } from '../send/first-requests.ts';
import { cycleOrJob } from '../ledger/named-cycle.ts';
import { dueRuns, resumedRunView, resumeAll } from './resume-all.ts';
import { resumeCycle, resumedCycleView } from './resume-cycle.ts';
import { resumeJob } from './resume-job.ts';
import { checkResumeOptions, type ResumeInput } from './resume-parameters.ts';
import { resumeNamedRun } from './resume-run.ts';
import { wholeJobId } from '../whole-job-id.ts';

const VIEWS = [resumedRunView, submissionView, resumedCycleView, jobView];

/** The permissions, exit codes and fields of resume. */
export const resumeFacts = {
  permissions: ['account-updater:job:create', 'account-updater:job:read'],
  exitCodes: [
    3,
    [6, 'a run has no copy of its file, or a later run of the file exists'],
    9,
    [10, 'a job failed, or --fail-on was met'],
    [11, 'still pending, another process works on it, or the ledger has other jobs whose results nobody received'],
    12,
    13,
    130,
  ],
  changes: true,
  fields: [...new Set(VIEWS.flatMap(({ fields }) => fields))],
} satisfies Omit<CommandFacts, 'examples'>;

/** Goes on with everything open, or with the run, job or cycle that is named. Resolves to the exit code. */
export async function resumeNamed(context: Context, input: ResumeInput): Promise<number | undefined> {
  const { of } = input;
  if (of === undefined) {
    checkResumeOptions(input, 'everything');
    return resumeAll(context, input);
  }
  const run = await runOrCycle(context, of);
  const resumed = run ? 'run' : isJobId(of) ? 'job' : 'cycle';
  checkResumeOptions(input, resumed);
  if (run) await resumeNamedRun(context, run, input);
  else if (resumed === 'cycle')
    return cycleOrJob(
      () => resumeCycle(context, of, input),
      async () => {
        // Where no job has the name either, the options are not what is wrong.
        const job = await wholeJobId(context, of);
        await readJob(await context.client(), job);
        checkResumeOptions(input, 'job');
        return resumeJob(context, job, input);
      },
    );
  else return resumeJob(context, of, input);
  return undefined;
}

/** Returns the first request, for `--curl`. Without an argument, that is one for the first run that is open. */
export async function resumeRequest(context: Context, of: string | undefined): Promise<PreviewRequest> {
  const [first] = of === undefined ? (await dueRuns(context)).runs : [];
  return jobOrListRequest(context, first?.name ?? of);
}
