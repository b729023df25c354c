import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { svcIn } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const directory = temporaryDirectory();
mkdirSync(join(directory, 'exports'));
writeFileSync(join(directory, 'report.html'), '<!DOCTYPE html>\n<html><body>A report</body></html>\n');

it.each([
  ['au check exports', 1, 'exports is a directory'],
  ['au submit exports', 1, 'exports is a directory'],
  ['au check report.html', 13, 'report.html is a web page (HTML), not a request file'],
  ['au submit report.html', 13, 'report.html is a web page (HTML), not a request file'],
  ['au refresh report.html --cycle c', 13, 'report.html is a web page (HTML), not an export of tokens'],
  ['au report report.html', 13, 'report.html is a web page (HTML), not a result file'],
])('svc %s ends with %i: %s', async (line, exit, message) => {
  const { code, stderr } = await svcIn(directory, ['--sandbox', ...line.split(' ')]);
  expect(code).toBe(exit);
  expect(stderr).toContain(message);
});
