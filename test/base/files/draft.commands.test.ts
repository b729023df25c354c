import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { Draft } from '../../../src/base/files/draft.ts';
import { startSandboxHere, svcIn } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/** A process that was killed, and one that another user runs. */
const [KILLED, ALIVE] = [4_000_000, 4_000_001];

const SUBMIT = 'au submit tokens.csv --wait';

it.each([
  { command: SUBMIT, target: 'tokens.results.csv' },
  { before: SUBMIT, command: SUBMIT, target: 'tokens.results.csv' },
  { before: SUBMIT, command: `${SUBMIT} --force`, target: 'tokens.results.csv' },
  { before: SUBMIT, command: 'au report tokens.results.csv --html page.html', target: 'page.html' },
  { before: SUBMIT, command: 'au report tokens.results.csv --split-into todo --force', target: 'todo/fix.csv' },
  {
    before: SUBMIT,
    command: 'au next tokens.csv tokens.results.csv --out next.csv --fail-on err=100%',
    target: 'next.csv',
  },
  { command: 'au prepare tokens.csv --out request.csv', target: 'request.csv' },
  {
    before: 'logs archive audit',
    command: 'logs evidence audit --month last --out month.tar.gz',
    target: 'month.tar.gz',
  },
  {
    before: 'logs archive audit',
    command: 'logs review audit --day today --html day.html',
    target: 'day.html',
    exit: 14,
  },
])('R44: svc $command removes the draft that a killed process left of $target', async (each) => {
  const { before, command, target, exit = 0 } = each;
  const home = temporaryDirectory();
  const here = {
    ...(await startSandboxHere({ processingMs: 0, logCount: 20 })),
    isAlive: (pid: number) => pid !== KILLED,
  };
  writeFileSync(join(home, 'tokens.csv'), 'token,expiration_year,expiration_month,merchant_id\nA,,,\nB,,,\n');
  if (before !== undefined) await svcIn(home, before.split(' '), here);
  mkdirSync(dirname(join(home, target)), { recursive: true });
  const [killed, alive] = await Promise.all(
    [KILLED, ALIVE].map(async (pid) => {
      const draft = await Draft.begin(join(home, target), { ...here, pid });
      await draft.seal();
      return draft.path;
    }),
  );
  const { code, stderr } = await svcIn(home, command.split(' '), here);
  expect([code, existsSync(killed!), existsSync(alive!), existsSync(join(home, target))], stderr).toEqual([
    exit,
    false,
    true,
    true,
  ]);
});
