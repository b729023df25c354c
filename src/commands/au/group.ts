import { entry, type GroupSpec } from '../../app/command.ts';

const runs: GroupSpec = {
  commands: [
    entry(
      'list',
      'list the runs recorded on this machine, newest first',
      async () => (await import('./list-runs.ts')).listRuns,
    ),
    entry('prune', 'remove the results that old runs keep', async () => (await import('./prune.ts')).prune),
  ],
  defaultCommand: 'list',
};

export const au: GroupSpec = {
  commands: [
    entry(
      'submit',
      'check a request file, create a job, upload it; with --wait also wait and summarize',
      async () => (await import('./submit.ts')).submit,
    ),
    entry(
      'prepare',
      'make a request file of an export from a database or spreadsheet',
      async () => (await import('./prepare.ts')).prepare,
    ),
    entry('check', 'check request files without sending anything', async () => (await import('./check.ts')).check),
    entry(
      'create',
      'create a job, which waits an hour for its file (a single step of submit)',
      async () => (await import('./jobs.ts')).create,
      { hidden: true },
    ),
    entry(
      'upload',
      'upload a request file to a pending job (a single step of submit)',
      async () => (await import('./jobs.ts')).upload,
      { hidden: true },
    ),
    entry('status', 'show a run part by part, or one job', async () => (await import('./jobs.ts')).status),
    entry('jobs', 'list jobs of the tenant, newest first', async () => (await import('./list-jobs.ts')).jobs),
    entry('runs', 'list the runs recorded on this machine, and remove old ones', () => Promise.resolve(runs)),
    entry('wait', 'wait until a job or run has completed or failed', async () => (await import('./wait.ts')).wait),
    entry(
      'download',
      'download the results of a completed job or run',
      async () => (await import('./download.ts')).download,
    ),
    entry(
      'sync',
      'advance all open runs once and download finished results',
      async () => (await import('./sync.ts')).sync,
    ),
    entry('abandon', "abandon a run: 'au sync' will skip it", async () => (await import('./abandon.ts')).abandon),
    entry(
      'report',
      'summarize a result file: counts and next action per result code',
      async () => (await import('./report.ts')).report,
    ),
    entry(
      'next',
      'create the next request file from the last one and its results',
      async () => (await import('./next.ts')).next,
    ),
  ],
};
