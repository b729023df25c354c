import { expect, it } from 'vitest';
import { succeeded, svcHere } from '../../support/run-here.ts';

it('svc sandbox cards --3ds shows the token and the scenario of each card in 80 columns', async () => {
  const shown = succeeded(
    await svcHere(['sandbox', 'cards', '--3ds'], { columns: 80, env: { NO_COLOR: '1', SVC_PAGER: 'cat' } }),
  );
  const [header = '', ...rows] = shown.stdout.split('\n\n')[0]?.split('\n') ?? [];
  expect(header).toMatch(/^TOKEN +SCENARIO$/);
  expect(rows.filter((row) => row.includes('Successful Frictionless Authentication')).length).toBeGreaterThan(1);
  expect(rows.filter((row) => row.length > 80)).toEqual([]);
});
