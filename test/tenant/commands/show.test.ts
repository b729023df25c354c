import { expect, it } from 'vitest';
import { svcHere } from '../../support/run-here.ts';
import { TENANT, tenantServer } from './support.ts';

it('svc tenant show -o csv has every setting, and whatever else is new', async () => {
  const server = await tenantServer();
  const { code, stdout } = await svcHere(['tenant', 'show', '-o', 'csv'], { baseUrl: server.url });
  const [header = [], row = [], end] = stdout.split('\n').map((line) => line.split(','));
  expect({ code, end }).toEqual({ code: 0, end: [''] });
  const values = Object.fromEntries(header.map((name, at) => [name, row[at]]));
  const settings = Object.entries(TENANT.settings).map(([name, value]) => [`settings.${name}`, value]);
  expect(values).toMatchObject({ id: TENANT.id, plan: TENANT.plan, ...Object.fromEntries(settings) });
  expect(header).toHaveLength(row.length);
  expect(new Set(header).size).toBe(header.length);
});

it('svc tenant show -o csv has the columns that were chosen and no other', async () => {
  const server = await tenantServer();
  const argv = ['tenant', 'show', '-o', 'csv', '--fields', 'settings.brand_new_setting,+plan'];
  const { stdout } = await svcHere(argv, { baseUrl: server.url });
  expect(stdout).toBe('settings.brand_new_setting,plan\nseven,gold\n');
});
