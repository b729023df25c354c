import { defineCommand } from '../../cli/app/command.ts';
import { resumeFacts, resumeNamed, resumeRequest } from '../resume/resume.ts';
import { resumeParameters } from '../resume/resume-parameters.ts';

export const resume = defineCommand({
  description:
    'Without an argument, goes on with every open run of this profile: uploads what is left, polls each job once, and writes results that are ready. For a cycle, also gets the results of the jobs that other machines sent with the same ledger. Nothing that the service may already have is sent again. A production job takes up to seven days: interrupt the wait, and continue it at any time.',
  details:
    'Uploads from the copy of the request file that the run keeps, so that the file itself is not needed, and a run whose file came through a pipe can be resumed too. With --wait, polls after 2 s, then at increasing intervals up to five minutes. The results of a run are written to its --out; if that file exists already or its directory is gone, they are kept with the run. With --out, or where a run is named with --wait, a file that exists ends the command before any request, and without --out they go into this directory if theirs is gone. The results of a cycle are written to <cycle>.results.csv unless --out names a file, and only when each of its jobs is completed. Parts whose job failed are left to svc au submit, which sends them again. Without an argument one failing run does not stop the others, and the exit code is that of the worst: a failed job (10), an unknown outcome (9), results that could not be verified (12), then what you have to fix, then what may pass without action (8, 7). --summary defaults to the file that GITHUB_STEP_SUMMARY names.',
  examples: [
    ['svc au resume', 'everything open, such as from cron every half hour'],
    ['svc au resume 2026-12 --wait', 'the results of a whole cycle, on any machine that shares the ledger'],
    ['svc au resume run-20260131-0a1b2c3d-4e5f --wait', 'one run, on to its results'],
    ['svc au resume 5f0c… --wait --timeout 50m', 'one job, in CI: exit code 11 when it is still pending then'],
  ],
  ...resumeFacts,
  parameters: resumeParameters,
  run: resumeNamed,
  request: (context, { of }) => resumeRequest(context, of),
});
