import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { errorWithAdvice, optionAdvice } from '../../../src/cli/app/advice.ts';
import type { RunRequest } from '../../../src/cli/app/invocation.ts';
import type { System } from '../../../src/base/system.ts';
import { svcHere } from '../../support/run-here.ts';

const system = { platform: 'linux', env: {}, home: '/home/u', cwd: '/', program: 'svc-2' } as unknown as System;

function refused(column: unknown): SvcError {
  return new SvcError('refused_input', 'no', { facts: { column } });
}

describe('advice about options', () => {
  it('advice about options names --excel-safe for a column that a spreadsheet would run, not for a place in a body', () => {
    expect(optionAdvice(refused('name'))).toContain('--excel-safe');
    expect(optionAdvice(refused(1))).toBeUndefined();
  });

  it.each([
    [86_400, 'To allow the pause, add --max-wait 86400s.'],
    [86_401, undefined],
  ])('advice about options names --max-wait for a pause of at most a day: %i s', (seconds, advice) => {
    const error = new SvcError('rate_limited', 'too many requests', { facts: { retry_after_s: seconds } });
    expect(optionAdvice(error)).toBe(advice);
  });
});

describe('the advice on a failure', () => {
  it('the advice on a failure writes commands with the name that was typed', () => {
    const error = new SvcError('not_found', 'no job', { hint: "List them with 'svc au jobs'." });
    expect(errorWithAdvice(error, undefined, system).hint).toBe("List them with 'svc-2 au jobs'.");
  });

  it('the advice on a failure that needs none is the error itself', () => {
    const error = new SvcError('not_found', 'no job', { hint: 'Check the id.' });
    expect(errorWithAdvice(error, undefined, system)).toBe(error);
  });

  it('the advice on a failure of the system that no place expected has the exit code of its report', () => {
    const error = Object.assign(new Error('ENOTDIR: no directory'), { code: 'ENOTDIR', path: '/x/y' });
    expect(errorWithAdvice(error, undefined, system)).toMatchObject({ code: 'config', exitCode: 3, cause: error });
    expect(errorWithAdvice(new TypeError('x is undefined'), undefined, system)).toMatchObject({
      code: 'bug',
      exitCode: 1,
    });
  });

  it('the advice on a name that is taken is --force, for a command that has it', () => {
    const command = { parameters: { force: {} } };
    const request = { kind: 'run', command, words: 'au x', input: {}, globals: {} } as unknown as RunRequest;
    const exists = new SvcError('usage', 'out.csv exists');
    expect(errorWithAdvice(exists, request, system)).toMatchObject({ hint: 'To allow it, add --force.' });
    expect(errorWithAdvice(exists, undefined, system)).toBe(exists);
  });

  it('the advice on a mistake in the command line is the help of its command', async () => {
    const { code, stderr } = await svcHere(['logs', 'list', '--curl', '--all', '--limit', '1']);
    expect([code, JSON.parse(stderr)]).toMatchObject([2, { next: 'svc logs list --help' }]);
  });
});
