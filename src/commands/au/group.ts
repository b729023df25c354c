import { entry, type GroupSpec } from '../../app/command.ts';

const runs: GroupSpec = {
  commands: [
    entry('list', 'list the runs recorded on this machine, newest first', async () => ({
      list: (await import('./recorded.ts')).listRuns,
    })),
    entry('prune', 'remove the results that old runs keep', () => import('./recorded.ts')),
  ],
  defaultCommand: 'list',
};

export const au: GroupSpec = {
  commands: [
    entry(
      'submit',
      'check a request file, create a job, upload it; with --wait also wait and summarize',
      () => import('./submit.ts'),
    ),
    entry('prepare', 'make a request file of an export from a database or spreadsheet', () => import('./prepare.ts')),
    entry('check', 'check request files without sending anything', () => import('./check.ts')),
    entry(
      'create',
      'create a job, which waits an hour for its file (a single step of submit)',
      () => import('./jobs.ts'),
      { hidden: true },
    ),
    entry('upload', 'upload a request file to a pending job (a single step of submit)', () => import('./jobs.ts'), {
      hidden: true,
    }),
    entry('status', 'show a run part by part, or one job', () => import('./jobs.ts')),
    entry('jobs', 'list jobs of the tenant, newest first', () => import('./jobs.ts')),
    entry('runs', 'list the runs recorded on this machine, and remove old ones', async () => ({ runs })),
    entry('wait', 'wait until a job or run has completed or failed', () => import('./wait.ts')),
    entry('download', 'download the results of a completed job or run', () => import('./download.ts')),
    entry('sync', 'advance all open runs once and download finished results', () => import('./sync.ts')),
    entry('abandon', "abandon a run: 'au sync' will skip it", () => import('./abandon.ts')),
    entry('report', 'summarize a result file: counts and next action per result code', () => import('./report.ts')),
    entry('next', 'create the next request file from the last one and its results', () => import('./next.ts')),
  ],
};
