import { expect, it } from 'vitest';
import { readRows, newTokenKeys } from '../../../src/au/ledger/request-rows.ts';
import { keyOfNewToken, keyOfRow, RowSet } from '../../../src/au/ledger/row-set.ts';
import { HEADER, inChunks, stream, UUID } from '../rows.ts';

function fileOf(text: string) {
  return { open: () => stream(inChunks(Buffer.from(text), 7)) };
}

async function rowsOf(salt: string, source: Parameters<typeof readRows>[1]): Promise<RowSet> {
  return (await readRows(salt, source)).rows;
}

it('the rows of a request file are the same in any order, with any quotes, line ends and repeats', async () => {
  const plain = await rowsOf('salt', fileOf(`${HEADER}\na,26,12,M\nb,27,01,N\n`));
  expect(plain).toEqual(RowSet.of([keyOfRow('salt', 'a\0M'), keyOfRow('salt', 'b\0N')], 'salt'));
  for (const text of [
    `${HEADER}\nb,27,01,N\na,26,12,M`,
    `${HEADER}\r\n"a",26,12,"M"\r\nb,"27",01,N\r\n`,
    `${HEADER}\na,26,12,M\nb,27,01,N\na,28,03,M\n`,
  ])
    expect((await rowsOf('salt', fileOf(text))).name()).toBe(plain.name());
});

it('the rows of a request file are known by token and merchant', async () => {
  const one = await rowsOf('salt', fileOf(`${HEADER}\na,26,12,M\n${UUID},,,\n"q,""1""",,,"M,1"\n`));
  const other = `${HEADER}\na,26,12,N\n${UUID.toUpperCase()},27,01,\n"q,""1""",28,02,"M,1"\n`;
  expect(one.countShared(await rowsOf('salt', fileOf(other)))).toBe(2);
  const salted = await rowsOf('another salt', fileOf(other));
  expect(one.keys).not.toContain(salted.keys[0]);
  expect(() => one.countShared(salted)).toThrow('sets of keys with two salts were compared');
});

it('the tokens of a request file are known without their merchants, apart from its rows', async () => {
  const text = `${HEADER}\na,26,12,M\na,26,12,N\n${UUID.toUpperCase()},,,\n`;
  const tokens = await newTokenKeys('salt', fileOf(text));
  expect(tokens).toEqual(RowSet.of([keyOfNewToken('salt', 'a'), keyOfNewToken('salt', UUID)], 'salt'));
  expect(tokens.countShared(await rowsOf('salt', fileOf(text)))).toBe(0);
});
