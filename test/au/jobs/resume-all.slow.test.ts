import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { openDesk, openQuickDesk } from '../commands/support.ts';

it('svc au resume gets the results of every open job, and two at once do not disturb each other', async () => {
  const { svc, home, uploads } = await openDesk();
  // These are other rows than those of the example.
  writeFileSync(home.file('more.csv'), `${exampleRequestFile().split('\n')[0]}\none-more,,,\n`);
  await svc('au submit tokens.csv');
  await svc('au submit more.csv');
  const line = 'au resume';
  const both = await Promise.all([svc(line), svc(line)]);
  expect(both.some(({ code }) => code === 0 || code === 11)).toBe(true);
  expect(await svc(line)).toMatchObject({ code: 0 });
  expect(existsSync(home.file('tokens.results.csv')) && existsSync(home.file('more.results.csv'))).toBe(true);
  expect(uploads()).toBe(2);
});

it('svc au resume overwrites nothing where the place of results is taken, and names the command that writes them elsewhere', async () => {
  const { svc, home } = await openQuickDesk();
  expect(await svc('au submit tokens.csv')).toMatchObject({ code: 0 });
  writeFileSync(home.file('tokens.results.csv'), 'mine');
  const { code, stderr } = await svc('au resume');
  expect([code, readFileSync(home.file('tokens.results.csv'), 'utf8')], stderr).toEqual([2, 'mine']);
  const [, cycle = ''] = /svc au resume (file-[0-9a-f]+) --out <file>/.exec(stderr) ?? [];
  expect(await svc(`au resume ${cycle} --out other.csv`)).toMatchObject({ code: 0 });
  expect(readFileSync(home.file('other.csv'), 'utf8')).toMatch(/^token,/);
});
