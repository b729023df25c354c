import { expect, it } from 'vitest';
import { errorIn, svcHere } from '../../support/run-here.ts';

it.each([
  ['--fields', 'message'],
  ['--jq', '.message'],
])('svc logs tail --to sends whole entries, so that %s is refused before anything is sent', async (option, value) => {
  const refused = await svcHere(['--sandbox', 'logs', 'tail', '--to', 'otlp+http://localhost:4318', option, value]);
  expect([refused.code, errorIn(refused)['message']]).toEqual([
    2,
    `${option} cannot be combined with --to: entries are sent whole`,
  ]);
});
