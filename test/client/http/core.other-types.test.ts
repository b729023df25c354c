import { expect, it } from 'vitest';
import { listedJobPageSchema } from '../../../src/schema/account-updater.ts';
import { json } from '../../support/fault-steps.ts';
import { serve } from '../../support/fault-server.ts';
import { makeCore, READ } from './support/core.ts';

it('R23: a member of another type than documented is warned of once, however many pages have it', async () => {
  const server = await serve([page({ status: 5 }), page({ status: 5 }), page({ status: 5, created_at: 7 })]);
  const warnings: string[] = [];
  const core = makeCore(server.url, { onWarning: (text) => void warnings.push(text) });
  for (let read = 0; read < 3; read += 1) await core.call({ ...READ, shape: listedJobPageSchema });
  expect(warnings).toEqual(
    ['data.status', 'data.created_at'].map(
      (name) => `members of another type than documented, shown as the service sent them: ${name}`,
    ),
  );
});

function page(job: object) {
  return json({ pagination: { page_size: 20, next: null }, data: [{ id: 'a', ...job }] });
}
