import fs from 'node:fs';
import { Readable } from 'node:stream';
import { it, onTestFinished } from 'vitest';
import { ended, svcHere } from '../../../support/run-here.ts';
import { temporaryDirectory } from '../../../support/directory.ts';

it.each([
  'au check -',
  'au prepare -',
  '3ds validate -',
  'tenant update --file - --yes',
  'login --no-check --private-key-stdin',
])('svc %s says that standard input is a directory, which Node shows as an empty file', async (line) => {
  const cwd = temporaryDirectory();
  const fd = fs.openSync(cwd, 'r');
  onTestFinished(() => fs.closeSync(fd));
  const input = Object.assign(Readable.from([]), { fd });
  ended(await svcHere(line.split(' '), { cwd, env: { SVC_API_KEY: 'sandbox-management-key' }, input }), 1, {
    error: { message: 'standard input is a directory' },
  });
});
