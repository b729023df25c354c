import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { errorIn, svcHere } from '../../support/run-here.ts';

it.each([
  ['au submit q.csv --out -', 'svc au download <run> --out -'],
  ['au report r.csv', 'svc au download <run> --force'],
  ['au wait 5f0c --exec true', 'svc au runs'],
])('%s fails with the command that helps', async (line, next) => {
  const cwd = mkdtempSync(join(tmpdir(), 'svc-next-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, 'r.csv'), 'token,result_code\n"open');
  const result = await svcHere(line.split(' '), { cwd, baseUrl: new URL('http://127.0.0.1:9') });
  expect(errorIn(result)).toMatchObject({ next });
});
