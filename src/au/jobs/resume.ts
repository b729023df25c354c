import type { CommandFacts, Context, PreviewRequest } from '../../cli/app/command.ts';
import { cycleOrJob } from './named-cycle.ts';
import { wholeJobId } from '../whole-job-id.ts';
import { jobOrListRequest } from '../job/first-requests.ts';
import { isJobId, readJob } from '../job/job.ts';
import { jobView } from '../job/job-view.ts';
import { openCycleView, resumeAll } from './resume-all.ts';
import { resumeCycle, resumedCycleView } from './resume-cycle.ts';
import { resumeJob } from './resume-job.ts';
import { checkResumeOptions, type ResumeInput } from './resume-parameters.ts';

const VIEWS = [openCycleView, resumedCycleView, jobView];

/** The permissions, exit codes and fields of resume. */
export const resumeFacts = {
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
} satisfies Omit<CommandFacts, 'examples'>;

/** Goes on with everything open, or with the job or cycle that is named. Resolves to the exit code. */
export async function resumeNamed(context: Context, input: ResumeInput): Promise<number | undefined> {
  const { of } = input;
  if (of === undefined) {
    checkResumeOptions(input, 'everything');
    return resumeAll(context, input);
  }
  const resumed = isJobId(of) ? 'job' : 'cycle';
  checkResumeOptions(input, resumed);
  if (resumed === 'job') return resumeJob(context, of, input);
  return cycleOrJob<undefined, undefined>(
    async () => {
      await resumeCycle(context, of, input);
      return undefined;
    },
    async () => {
      // Where no job has the name either, the options are not what is wrong.
      const job = await wholeJobId(context, of);
      await readJob(await context.client(), job);
      checkResumeOptions(input, 'job');
      return resumeJob(context, job, input);
    },
  );
}

/** Returns the first request, for `--curl`. */
export function resumeRequest(of: string | undefined): Promise<PreviewRequest> {
  return jobOrListRequest(of);
}
