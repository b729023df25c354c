import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Exclusions } from '../../../src/au/request/exclusions.ts';

function place(): string {
  const directory = mkdtempSync(join(tmpdir(), 'svc-exclusions-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

it('a list of exclusions that was saved with CRLF and then got lines with LF has all its tokens', async () => {
  const file = join(place(), 'closed.csv');
  const saved = 'token,code,cycle,date\r\na,X,,\r\n';
  const added = Array.from({ length: 40_000 }, (_, at) => `t${at},Y,,2026-01-05\n`);
  writeFileSync(file, saved + added.join(''));
  const list = await Exclusions.open(file);
  expect([list.tokens, list.lineOf('t0'), list.lineOf('t39999')]).toEqual([40_001, 3, 40_002]);
});
