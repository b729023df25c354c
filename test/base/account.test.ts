import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import { operatorOf, operatorText } from '../../src/base/account.ts';

const HOST = hostname().slice(0, 100);

function textOf(env: Record<string, string>, account?: { name?: string; uid?: number }): string {
  return operatorText(operatorOf({ env, ...(account && { account: () => account }) }));
}

it('an account is named by the system, whatever USER says', () => {
  expect(textOf({ USER: 'mallory' }, { name: 'ana', uid: 1000 })).toBe(`ana@${HOST}`);
});

it('an account without a name is recorded by its number, and USER and LOGNAME as claims', () => {
  expect(textOf({}, { uid: 65_532 })).toBe(`uid 65532@${HOST}`);
  expect(textOf({ USER: 'ana', LOGNAME: 'eve' }, { uid: 65_532 })).toBe(`uid 65532@${HOST} (claimed: ana)`);
  expect(textOf({ LOGNAME: 'eve' }, { uid: 65_532 })).toBe(`uid 65532@${HOST} (claimed: eve)`);
  expect(textOf({})).toBe(`unknown@${HOST}`);
});

it('a claimed name that is no user name is not recorded', () => {
  for (const USER of ['', 'a b', '\u001b[31mred', 'a4111-1111-1111-1111', 'x'.repeat(65)])
    expect(textOf({ USER }, { uid: 1 })).toBe(`uid 1@${HOST}`);
});
