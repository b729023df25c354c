import { expect, it } from 'vitest';
import { ended, rowOf } from '../../support/run-here.ts';
import { openQuickDesk, writeRows } from '../commands/support.ts';
import { JobFaults } from '../job-faults.ts';

const LINE = 'au submit tokens.csv --wait --accept merchants';

/** Returns rows of one token, which need a job for each merchant. */
function rowsFor(merchants: number): string[] {
  return Array.from({ length: merchants }, (_, at) => `00000000-0000-4000-8000-000000000001,,,M${at}`);
}

it('R18: the wait for twelve jobs gets no 429 from a service that enforces its limits', async () => {
  const desk = await openQuickDesk({ limits: 'on', pickupMs: 0 });
  writeRows(desk, 'tokens.csv', ...rowsFor(12));
  ended(await desk.svc(LINE, { SVC_PACING: 'on' }), 0, { uploads: 12 });
  expect(desk.sandbox.ledger().filter(({ status }) => status === 429)).toEqual([]);
  expect(desk.sandbox.ledger().length).toBeGreaterThan(50);
});

it('R53: the line of a wait for several jobs counts those that failed among the others, whose rows the same command sends again', async () => {
  const created: string[] = [];
  let reads = 0;
  const service = new JobFaults();
  service.say = (job) => {
    const { id } = job;
    if (!created.includes(id)) created.push(id);
    reads += 1;
    if (job['status'] === 'pending') return job;
    if (id === created[0]) return { ...job, status: 'failed', errors: ['made up'] };
    return reads < 20 ? { ...job, status: 'processing' } : job;
  };
  const desk = await openQuickDesk({ pickupMs: 0, intercept: service.intercept });
  writeRows(desk, 'tokens.csv', ...rowsFor(3));
  ended(
    await desk.svc(LINE),
    10,
    /tokens\.csv in 3 jobs: (1 failed, 2 processing|2 processing, 1 failed), next poll in/,
    { error: { next: 'svc au submit tokens.csv --accept merchants --wait' } },
  );
});

it('R43: a job that ended with a status that svc does not know ends every wait with its errors, and with the command that frees its rows', async () => {
  const service = new JobFaults();
  const desk = await openQuickDesk({ pickupMs: 0, intercept: service.intercept });
  const { job } = rowOf(await desk.svc('au submit tokens.csv --cycle 2026-12'));
  service.say = (each) => ({ ...each, status: 'cancelled', errors: ['cancelled by support'] });
  const message = expect.stringMatching(/has the status cancelled, which svc does not know: cancelled by support$/);
  const alternatives = [`svc au abandon ${String(job)}`];
  for (const line of [
    'submit tokens.csv --cycle 2026-12',
    'resume 2026-12',
    `resume ${String(job)}`,
    `download ${String(job)}`,
  ])
    for (const wait of line.startsWith('download') ? [''] : ['', ' --wait'])
      ended(await desk.svc(`au ${line}${wait}`), 9, { uploads: 1, error: { message, alternatives } });
  for (const wait of ['', ' --wait'])
    ended(await desk.svc(`au resume${wait}`), 9, 'cancelled by support', { unsaid: 'under way' });
  rowOf(await desk.svc(`au abandon ${String(job)} --yes`));
  const freed = [`svc au abandon ${String(job)}`, 'svc au submit tokens.csv --cycle 2026-12'];
  const [next, ...others] = freed;
  ended(await desk.svc('au resume 2026-12'), 10, {
    error: {
      message: expect.stringContaining('was abandoned, and its rows may have been paid for'),
      next,
      alternatives: others,
    },
  });
  const own = service.say;
  service.say = (each) => (each['id'] === job ? own(each) : each);
  rowOf(await desk.svc('au submit tokens.csv --cycle 2026-12'));
  expect(desk.uploads()).toBe(2);
});

it('R37: a job that is removed before its upload gets a successor, and both are named', async () => {
  let removed: string | undefined;
  const service = new JobFaults();
  service.refuse = (method, url) => {
    removed ??= method === 'PUT' ? /requests\/([\w-]+)/.exec(url)?.[1] : undefined;
    return removed !== undefined && url.includes(removed) ? (method === 'PUT' ? 403 : 404) : undefined;
  };
  const desk = await openQuickDesk({ pickupMs: 0, intercept: service.intercept });
  const { stderr } = ended(await desk.svc('au submit tokens.csv --wait'), 0, { uploads: 1 });
  expect(stderr.match(/created job [\w-]+/g)).toHaveLength(2);
  expect(stderr).toContain(`job ${removed} was removed before its file was uploaded`);
});

/** Opens a desk that has got the results of the first of two jobs of a cycle, while the store refused those of the second. */
async function openHalfRead() {
  const service = new JobFaults();
  const desk = await openQuickDesk({ pickupMs: 0, intercept: service.intercept });
  const jobs: string[] = [];
  for (const row of ['00000000-0000-4000-8000-000000000001,26,12,', '00000000-0000-4000-8000-000000000002,26,12,']) {
    writeRows(desk, 'tokens.csv', row);
    jobs.push(String(rowOf(await desk.svc('au submit tokens.csv --cycle 2026-12'))['job']));
  }
  const [first = '', second = ''] = jobs;
  service.refuse = (method, url) => (method === 'GET' && url.includes(`/results/${second}`) ? 500 : undefined);
  ended(await desk.svc('au resume 2026-12'), 8);
  service.clear();
  return { desk, service, first, second };
}

it.each(['forgotten', 'failed'] as const)(
  'R59: results that this machine keeps are delivered although the service shows their job as %s since',
  async (become) => {
    const { desk, service, first } = await openHalfRead();
    service[become] = [first];
    const began = desk.clock.now();
    ended(await desk.svc('au resume 2026-12 --wait'), 0);
    expect(desk.clock.now() - began).toBeLessThan(60_000);
  },
);

it('svc au download delivers what this machine keeps of a forgotten job, and the job is open no longer', async () => {
  const { desk, service, first, second } = await openHalfRead();
  const open = async (): Promise<unknown> => rowOf(await desk.svc('au status'))['open_jobs'];
  expect(await open()).toEqual([first, second]);
  service.forgotten = [first];
  ended(await desk.svc(`au status ${first}`), 9, { error: { next: `svc au download ${first}` } });
  ended(await desk.svc(`au download ${first}`), 0, 'these are the results that this machine keeps');
  expect(await open()).toEqual([second]);
});
