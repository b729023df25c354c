import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { errorIn, svcHere } from '../support/run-here.ts';
import { temporaryDirectory } from '../support/directory.ts';

it.each([
  ['tail --overlap 13h', 'an overlap of 13h is more than half of the retention of the logs, 1d'],
  ['tail --retention 3m', 'an overlap of 2m is more than half of the retention of the logs, 3m'],
  ['archive audit --overlap 20h', 'an overlap of 20h is more than half of the retention of the logs, 1d'],
  [
    'archive audit --overlap 37h --retention 72h',
    'an overlap of 1d 13h is more than half of the retention of the logs, 3d',
  ],
])('R76: svc logs %s is refused before any request, since it would hide gaps', async (line, message) => {
  const home = temporaryDirectory();
  const refused = await svcHere(`logs ${line}`.split(' '), { home, baseUrl: new URL('http://127.0.0.1:9') });
  expect([refused.code, errorIn(refused)['message'], existsSync(join(home, 'audit'))]).toEqual([2, message, false]);
});
