import { linkSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ended, succeeded } from '../../support/run-here.ts';
import { openQuickDesk } from './support.ts';

it('R89: a result file never replaces the request that it is about, however the request is named or linked', async () => {
  const { svc, home } = await openQuickDesk();
  const request = readFileSync(home.file('tokens.csv'), 'utf8');
  linkSync(home.file('tokens.csv'), home.file('link.csv'));
  succeeded(await svc('au submit tokens.csv --cycle month --wait --yes'));
  const lines = [
    'au submit tokens.csv --cycle month --wait --force --out',
    'au next tokens.csv tokens.results.csv --force --out',
    'au next tokens.csv tokens.results.csv --out next.csv --force --excluded',
    'au report tokens.results.csv --request tokens.csv --force --html',
  ];
  for (const line of lines)
    for (const out of ['tokens.csv', 'link.csv'])
      ended(await svc(`${line} ${out}`), 2, { error: { message: expect.stringContaining(`would replace ${out}`) } });
  expect(readFileSync(home.file('tokens.csv'), 'utf8')).toBe(request);
});

it('R89: svc au download and svc au resume replace no request file, not even with --force', async () => {
  const { svc, home, jobs } = await openQuickDesk();
  const request = readFileSync(home.file('tokens.csv'), 'utf8');
  succeeded(await svc('au submit tokens.csv --cycle month --wait --yes'));
  for (const line of [`au download ${jobs()[0]} --out tokens.csv`, 'au resume month --out tokens.csv'])
    for (const force of ['', ' --force']) {
      ended(await svc(`${line}${force}`), 2, {
        error: { message: 'tokens.csv is a request file, and results never replace one' },
      });
    }
  expect(readFileSync(home.file('tokens.csv'), 'utf8')).toBe(request);
});
