import { expect, it } from 'vitest';
import { SvcError } from '../../src/base/errors.ts';

const original = new SvcError('rejected', 'refused', {
  hint: 'a hint',
  next: ['whoami'],
  alternatives: [['doctor'], ['login']],
  status: 409,
  requestId: 'req-1',
  retryable: true,
  facts: { job: 'j-1', rows: 2 },
  cause: new Error('the first'),
});

it('SvcError.with keeps all that is not named, and the error itself as the cause', () => {
  const changed = original.with({ message: 'refused again' });
  expect(changed).toMatchObject({
    code: 'rejected',
    message: 'refused again',
    hint: 'a hint',
    next: ['whoami'],
    alternatives: [['doctor'], ['login']],
    status: 409,
    requestId: 'req-1',
    retryable: true,
    facts: { job: 'j-1', rows: 2 },
  });
  expect(changed.cause).toBe(original);
});

it('SvcError.with replaces what is named, removes what is undefined, and adds facts', () => {
  const changed = original.with({
    code: 'conflict',
    hint: undefined,
    next: ['au', 'resume'],
    facts: { rows: 3, run: 'r' },
  });
  expect(changed.code).toBe('conflict');
  expect(changed.hint).toBeUndefined();
  expect(changed.commands).toEqual([['au', 'resume'], ['doctor'], ['login']]);
  expect(changed.facts).toEqual({ job: 'j-1', rows: 3, run: 'r' });
  expect(changed).toMatchObject({ requestId: 'req-1', retryable: true, status: 409 });
});

it('SvcError.with gives no empty facts to an error that has none', () => {
  expect(new SvcError('bug', 'x').with({ hint: 'y' }).facts).toBeUndefined();
});
