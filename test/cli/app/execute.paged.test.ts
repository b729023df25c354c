import { expect, it } from 'vitest';
import { allCommands } from '../../support/tree.ts';

it('a list goes through the pager, unless it is to go on by itself', async () => {
  const found = (await allCommands()).flatMap(({ words, command: { paged } }) =>
    typeof paged === 'function' ? [[words, paged({}), paged({ watch: true, follow: true })]] : [],
  );
  expect(found).toEqual([
    ['logs list', true, false],
    ['au jobs', true, false],
  ]);
});
