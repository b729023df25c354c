import { expect, it } from 'vitest';
import { Overview, overviewLines } from '../../../src/au/request/overview.ts';

it('the merchants of a file are counted up to 1,000', () => {
  const overview = new Overview();
  const linesWith = (merchants: number): string | undefined => {
    for (let at = 0; at < merchants; at += 1)
      overview.take({ token: 't', isUuid: true, year: '', month: '', merchant: `shop ${at}` }, at);
    return overviewLines(overview.found())[1];
  };
  expect(linesWith(1_000)).toBe('merchants: 1,000');
  expect(linesWith(1_001)).toBe('merchants: more than 1,000 different');
});

it('the rows of a file are all counted, also those that need no closer look', () => {
  const overview = new Overview();
  overview.take({ token: 't', isUuid: true, year: '', month: '', merchant: 'shop' }, 1);
  expect([overview.takePlain(-1, 'shop'), overview.takePlain(-1, ''), overview.takePlain(-1, 'other')]).toEqual([
    true,
    true,
    false,
  ]);
  expect(overview.found()).toMatchObject({ rows: 3, uuids: 3 });
});
