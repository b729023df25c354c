import { expect, it } from 'vitest';
import { errorIn } from '../../support/run-here.ts';
import { openQuickDesk } from '../commands/support.ts';

it('svc au resume polls a job once and ends with 11 while it is under way, and with 0 once it is completed', async () => {
  const desk = await openQuickDesk({ processingMs: 3_600_000 });
  const sent = await desk.svc('au submit tokens.csv');
  const { job } = JSON.parse(sent.stdout) as { readonly job: string };
  await desk.clock.advance(60_000);
  const polled = await desk.svc(`au resume ${job}`);
  expect([polled.code, JSON.parse(polled.stdout)], polled.stderr).toEqual([
    11,
    expect.objectContaining({ id: job, status: 'processing' }),
  ]);
  const waited = await desk.svc(`au resume ${job} --wait`);
  expect([waited.code, JSON.parse(waited.stdout)], waited.stderr).toEqual([
    0,
    expect.objectContaining({ id: job, status: 'completed' }),
  ]);
  expect(waited.stderr).toContain(`au download ${job}`);
});

it('svc au resume of a job names a next command with the options typed', async () => {
  const desk = await openQuickDesk({ processingMs: 3_600_000 });
  const { job } = JSON.parse((await desk.svc('au submit tokens.csv')).stdout) as { readonly job: string };
  const next = `svc au resume ${job} --wait`;
  for (const line of [`au resume ${job}`, `au resume ${job} --wait --timeout 10m`]) {
    const pending = await desk.svc(line);
    expect([pending.code, String(errorIn(pending)['next']).split(' ').toSorted()]).toEqual([
      11,
      next.split(' ').toSorted(),
    ]);
  }
});
