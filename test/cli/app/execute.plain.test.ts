import { expect, it } from 'vitest';
import { tenantServer } from '../../tenant/commands/support.ts';
import { svcHere } from '../../support/run-here.ts';

const ARGV = ['tenant', 'show', '--fields', 'name,type'];
const PLAIN = 'TEST\nname: Acme QA\ntype: test\n';

it.each([
  ['--plain', [...ARGV, '--plain'], {}, PLAIN],
  ['SVC_PLAIN', ARGV, { SVC_PLAIN: '1' }, PLAIN],
  ['TERM=dumb', ARGV, { TERM: 'dumb' }, PLAIN],
  ['--plain beside -o json', [...ARGV, '--plain', '-o', 'json'], {}, '{\n  "name": "Acme QA",\n  "type": "test"\n}\n'],
  ['nothing, but no color by NO_COLOR', ARGV, { SVC_PLAIN: '0', NO_COLOR: '1' }, 'TEST\nname  Acme QA\ntype  test\n'],
])('a terminal shows plain text where it is asked for by %s, and machine formats as they are', async (...row) => {
  const [, argv, env, stdout] = row;
  const { url: baseUrl } = await tenantServer();
  expect(await svcHere(argv, { baseUrl, env, columns: 80 })).toEqual({ code: 0, stdout, stderr: '' });
});
