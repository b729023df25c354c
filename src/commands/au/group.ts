import { entry, type GroupSpec } from '../../app/command.ts';

/** `svc au` */
export const au: GroupSpec = {
  commands: [
    entry(
      'submit',
      'check a request file, create a job, upload it; with --wait also wait and summarise',
      async () => (await import('./submit.ts')).submit,
    ),
    entry(
      'check',
      'check request files without sending anything',
      async () => (await import('./check.ts')).check,
    ),
    entry(
      'create',
      'create a job that waits one hour for its file (a single step; submit does it all)',
      async () => (await import('./steps.ts')).create,
      { hidden: true },
    ),
    entry(
      'upload',
      'upload a request file to a pending job (a single step; submit does it all)',
      async () => (await import('./steps.ts')).upload,
      { hidden: true },
    ),
    entry(
      'status',
      'the recorded runs; or one run, part by part; or one job as it stands now',
      async () => (await import('./status.ts')).status,
    ),
    entry('list', 'jobs of the tenant, newest first', async () => (await import('./status.ts')).list),
    entry(
      'wait',
      'wait until a job or a run is completed or has failed',
      async () => (await import('./wait.ts')).wait,
    ),
    entry(
      'download',
      'the results of a completed job or run, whole or not at all',
      async () => (await import('./download.ts')).download,
    ),
    entry(
      'sync',
      'advance every open run once and bring what is ready: for cron and CI',
      async () => (await import('./sync.ts')).sync,
    ),
    entry(
      'abandon',
      'give a run up: au sync passes it over from now on',
      async () => (await import('./abandon.ts')).abandon,
    ),
    entry(
      'report',
      'what a result file says: counts by result code, and what each asks for',
      async () => (await import('./report.ts')).report,
    ),
    entry(
      'next',
      'the request file of the next cycle, from the last one and its results',
      async () => (await import('./next.ts')).next,
    ),
  ],
};
