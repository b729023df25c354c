import { expect, it } from 'vitest';
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
