import { expect, it } from 'vitest';
import { ended, rowOf } from '../../support/run-here.ts';
import { openQuickDesk } from '../commands/support.ts';
import { JobFaults } from '../job-faults.ts';

it('svc au resume polls a job once and ends with 11 and the command that waits, and with 0 once it is completed', async () => {
  const desk = await openQuickDesk({ processingMs: 3_600_000 });
  const { job } = rowOf(await desk.svc('au submit tokens.csv'));
  await desk.clock.advance(60_000);
  const id = String(job);
  const waiting = expect.stringMatching(new RegExp(`^svc au resume (?=.*${id})(?=.*--wait)[^ ]+ [^ ]+$`));
  const error = { next: waiting };
  ended(await desk.svc(`au resume ${id}`), 11, { row: { id, status: 'processing' }, error });
  ended(await desk.svc(`au resume ${id} --wait --timeout 10m`), 11, { error });
  ended(await desk.svc(`au resume ${id} --wait`), 0, `au download ${id}`, { row: { id, status: 'completed' } });
});

it('R62: svc au resume <job> --dry-run sends nothing, waits for nothing and says what it would do', async () => {
  const service = new JobFaults();
  const desk = await openQuickDesk({ processingMs: 3_600_000, intercept: service.intercept });
  service.refuse = (method) => (method === 'PUT' ? 403 : undefined);
  await desk.svc('au submit tokens.csv');
  const [job = ''] = desk.jobs();
  expect(desk.files(job).sent).toBe('some');
  service.clear();
  const began = desk.clock.now();
  for (const line of [`au resume ${job} --dry-run`, `au resume ${job} --dry-run --wait`])
    ended(await desk.svc(line), 0, `dry run: it would finish its upload and poll job ${job}`, {
      row: { id: job, status: 'pending' },
      uploads: 0,
    });
  expect([desk.files(job).sent, desk.clock.now()]).toEqual(['some', began]);
});
