import { existsSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openQuickDesk } from '../../au/commands/support.ts';
import { ended, errorIn, rowOf, succeeded } from '../../support/run-here.ts';

it('R58: svc reset loses no job of the ledger that may be paid for unless it is named', async () => {
  const desk = await openQuickDesk({ processingMs: 3_600_000 });
  const { id } = rowOf(await desk.svc('au create'));
  const job = String(id);
  rowOf(await desk.svc(`au upload ${job} tokens.csv`));
  for (const line of ['reset --yes', 'reset --dry-run']) {
    ended(await desk.svc(line), 6, {
      error: {
        message: `1 job may be billed, and nobody has the results: ${job}`,
        next: 'svc au status',
        alternatives: [`svc reset --forget ${job}`],
      },
    });
  }
  const status = await desk.svc('au status');
  expect([status.code, status.stdout.includes(job)], status.stderr).toEqual([0, true]);
  succeeded(await desk.svc(`reset --yes --forget ${job}`));
  expect((await desk.svc('au status')).stdout).not.toContain(job);
});

it('R58: svc reset loses no job until its results were received', async () => {
  const desk = await openQuickDesk({ processingMs: 60_000 });
  const { job } = rowOf(await desk.svc('au submit tokens.csv --cycle 2026-12'));
  rmSync(desk.home.file('.local/state/svc/jobs'), { recursive: true });
  expect(errorIn(await desk.svc('reset --yes'))['message']).toContain(`nobody has the results: ${String(job)}`);
  succeeded(await desk.svc('au resume 2026-12 --wait'));
  succeeded(await desk.svc('reset --yes'));
  // The request and the results of the job are removed too.
  expect(existsSync(desk.home.file('.local/state/svc'))).toBe(false);
});
