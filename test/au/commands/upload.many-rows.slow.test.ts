import { writeFileSync } from 'node:fs';
import { it } from 'vitest';
import { openQuickDesk } from './support.ts';
import { ended } from '../../support/run-here.ts';

it('R39: a file of more than 300 thousand rows is uploaded to a single job with a warning: only its bytes are limited', async () => {
  const desk = await openQuickDesk();
  const rows = Array.from(
    { length: 300_001 },
    (_, row) => `${String(row).padStart(8, '0')}-0000-4000-8000-000000000000,,,\n`,
  ).join('');
  writeFileSync(desk.home.file('many.csv'), `token,expiration_year,expiration_month,merchant_id\n${rows}`);
  const { stdout } = await desk.svc('au create');
  const { id } = JSON.parse(stdout) as { id: string };
  ended(
    await desk.svc(`au upload ${id} many.csv`),
    0,
    '300,001 rows are more than the about 300,000 that one job takes',
    { uploads: 1 },
  );
});
