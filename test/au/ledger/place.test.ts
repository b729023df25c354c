import { expect, it } from 'vitest';
import { requireSameLedger } from '../../../src/au/ledger/place.ts';
import type { Origin } from '../../../src/cli/config/origin.ts';

it.each<[string, Origin, string, readonly string[]]>([
  ['variable', { kind: 'environment', name: 'SVC_LEDGER' }, 'Set SVC_LEDGER to /ours again', ['doctor']],
  ['setting', { kind: 'profile', name: 'profile prod' }, 'Set the ledger again', ['profile', 'set', 'ledger', '/ours']],
])('R58: a ledger that another one replaces is named with the %s to change', (_, origin, hint, next) => {
  const value = '/other';
  const compare = (): void => requireSameLedger({ ledger: '/ours' }, { value, origin }, '/state');
  expect(compare).toThrow(expect.objectContaining({ exitCode: 3, hint: expect.stringContaining(hint), next }));
  expect(() => requireSameLedger({ ledger: value }, { value, origin }, '/state')).not.toThrow();
});
