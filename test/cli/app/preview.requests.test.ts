import { expect, it } from 'vitest';
import { svcHere } from '../../support/run-here.ts';

it.each([
  ['tenant show', 'not sent\n'],
  ['3ds show abc', 'not sent\n'],
  ['api GET /tenants/self', 'not sent\n'],
  ['api GET /logs --paginate', 'not sent; later requests depend on its response\n'],
  ['logs', 'not sent; later requests depend on its response\n'],
  ['tenant update --name B', 'not sent; later requests depend on its response\n'],
])('svc %s --curl says whether other requests follow: %j', async (line, note) => {
  const { code, stderr } = await svcHere(['--sandbox', ...line.split(' '), '--curl']);
  expect(code).toBe(0);
  expect(stderr).toContain(note);
});
