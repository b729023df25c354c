import { expect, it } from 'vitest';
import { svcHere } from '../../../support/run-here.ts';

it('svc profile show shows people where each key is from, once, and programs every field', async () => {
  const { stdout } = await svcHere(['profile', 'show', 'sandbox', '-o', 'table', '--plain']);
  expect(stdout).toBe('name: sandbox\nmanagement key: built in\nprivate key: built in\n');
  const chosen = await svcHere(['profile', 'show', 'sandbox', '-o', 'table', '--fields', 'management_key']);
  expect(chosen.stdout).toContain('true');
  const data = await svcHere(['profile', 'show', 'sandbox', '-o', 'json']);
  expect(JSON.parse(data.stdout)).toMatchObject({ management_key: true, management_key_from: 'built in' });
});
