import { defineCommand } from '../../cli/app/command.ts';
import { resumeFacts, resumeNamed, resumeRequest } from '../jobs/resume.ts';
import { resumeParameters } from '../jobs/resume-parameters.ts';

export const resume = defineCommand({
  description:
    'Without an argument, goes on with every cycle that has jobs whose results nobody received: finishes uploads that this machine began, polls each job once, and writes results that are ready. The jobs may be those of any machine that shares the ledger. Nothing that the service may already have is sent again. A production job takes up to seven days: interrupt the wait, and continue it at any time.',
  details:
    'An upload goes on from the rows that this machine keeps, so that the file itself is not needed. Rows that no job has yet are sent by submitting their file again. With --wait, polls after 2 s, then at increasing intervals up to five minutes, and goes on through outages of the service. The results of a cycle are written to <cycle>.results.csv unless --out names a file, those of a file without a cycle to <file>.results.csv, and only when each of their jobs is completed. Jobs that failed are left to svc au submit, which sends their rows again. Without an argument one failing cycle does not stop the others, and the exit code is that of the worst: a failed job (10), an unknown outcome (9), results that could not be verified (12), then what you have to fix, then what may pass without action (8, 7).',
  examples: [
    ['svc au resume', 'everything open, such as from cron every half hour'],
    ['svc au resume 2026-12 --wait', 'the results of a whole cycle, on any machine that shares the ledger'],
    ['svc au resume 5f0c… --wait --timeout 50m', 'one job, in CI: exit code 11 when it is still pending then'],
  ],
  ...resumeFacts,
  parameters: resumeParameters,
  run: resumeNamed,
  request: (_, { of }) => resumeRequest(of),
});
