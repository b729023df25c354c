import { expect, it } from 'vitest';
import { errorIn, startSandboxHere, svcHere } from '../../support/run-here.ts';

it('R56 a tenant of the sandbox is updated, measured and deleted', async () => {
  const service = await startSandboxHere();
  const tenant = (...argv: string[]) => svcHere(['tenant', ...argv], service);
  const before = JSON.parse((await tenant('show')).stdout) as Record<string, string>;

  const updated = await tenant('update', '--name', 'Renamed', '--set', 'deduplicate_tokens=true', '--yes');
  expect(updated.code).toBe(0);
  const after = JSON.parse((await tenant('show')).stdout) as Record<string, unknown>;
  expect(after).toMatchObject({ id: before['id'], name: 'Renamed', settings: { deduplicate_tokens: 'true' } });

  const usage = await tenant('usage', '-o', 'table');
  expect([usage.code, usage.stdout]).toEqual([0, expect.stringContaining('monthly active tokens: ')]);
  expect((await tenant('usage', '--warn-at', '9999%')).code).toBe(0);

  const wrong = await tenant('delete', '--confirm', 'another');
  expect(wrong.code).toBe(2);
  expect((await tenant('show')).code).toBe(0);
  const deleted = await tenant('delete', '--confirm', String(before['id']));
  expect([deleted.code, deleted.stderr]).toEqual([0, expect.stringContaining('deleted the TEST tenant "Renamed"')]);
  expect(errorIn(await tenant('show'))['status']).toBe(401);
});
