import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { errorWithAdvice } from '../../../src/cli/app/advice.ts';
import { reportError, type ReportStyle } from '../../../src/cli/output/error-report.ts';
import { testSystem } from '../config/support/system.ts';

const person = { machine: false, debug: false } as const;
const program = { machine: true, debug: false } as const;

const refused = new SvcError('rejected', 'the service refused the tenant\u001b[31m', {
  hint: 'Correct the name and run the command again',
  status: 422,
  requestId: 'req-1',
  facts: { problems: ['name: too long', { path: 'x', rule: 'y\u202e' }], code: 'mine', job_id: 'j1' },
  cause: new Error('inner'),
});

/** Reports whatever was thrown, as a command does. */
function reportThrown(error: unknown, style: ReportStyle): string {
  return reportError(errorWithAdvice(error, undefined, testSystem()), style);
}

function parsed(text: string): Record<string, unknown> {
  expect(text.endsWith('\n')).toBe(true);
  expect(text.trimEnd()).not.toContain('\n');
  return JSON.parse(text) as Record<string, unknown>;
}

describe('an error whose cause is that too many files are open', () => {
  const cause = Object.assign(new Error("EMFILE: too many open files, open 'x'"), { code: 'EMFILE' });

  it.each([
    ['itself', cause],
    [
      'two steps away',
      new SvcError('local', 'x cannot be read', { hint: 'Look at x.', cause: new Error('y', { cause }) }),
    ],
  ])('%s advises to raise the limit, in place of its own hint', (_, error) => {
    const text = reportThrown(error, person);
    expect(text).toContain('too many files are open (EMFILE)');
    expect(text).toContain('ulimit -n 1024');
    expect(text).not.toMatch(/bug|Look at x/);
  });
});

describe('an error for a person', () => {
  it('findings of a review are not called an error, as a reached threshold is', () => {
    const facts = { findings: { deletions: 1 } };
    expect(reportError(new SvcError('threshold', 'one deletion', { facts }), person)).toBe('one deletion\n');
    expect(reportError(new SvcError('threshold', '80% is used'), person)).toBe('error: 80% is used\n');
  });

  it('R49: an error for a person says what, which problems, what now, and the request id, all cleaned', () => {
    expect(reportError(refused, person)).toBe(
      [
        String.raw`error: the service refused the tenant\x1b[31m`,
        '  name: too long',
        String.raw`  {"path":"x","rule":"y\u202e"}`,
        'hint: Correct the name and run the command again',
        'request id: req-1',
        '',
      ].join('\n'),
    );
  });

  it('an error for a person sets further lines in, so that a message cannot pass for a report of its own', () => {
    const forged = new SvcError('rejected', 'no\nerror: disk failed\nhint: run rm', { hint: 'a\nb' });
    expect(reportError(forged, person)).toBe('error: no\n  error: disk failed\n  hint: run rm\nhint: a\n  b\n');
  });

  it('an error for a person is broken between words on a terminal, and a command to copy is not', () => {
    const error = new SvcError('config', 'no base URL is set for profile default', {
      hint: "Set SVC_BASE_URL, or store one with 'svc login'; '--sandbox' needs none.",
    });
    const lines = reportError(error, { machine: false, debug: false, columns: 52 }).split('\n');
    expect(lines).toEqual([
      'error: no base URL is set for profile default',
      'hint: Set SVC_BASE_URL, or store one with',
      "  'svc login'; '--sandbox' needs none.",
      '',
    ]);
  });

  it('R49: an error for a person puts the next command on a line of its own, never broken', () => {
    const next = ['au', 'submit', 'a-file-with-a-rather-long-name.csv', '--pay-again'];
    const style = { ...person, columns: 40 };
    const command = `  svc ${next.join(' ')}`;
    const unknownWidth = reportError(new SvcError('conflict', 'a file that was submitted'), { ...style, columns: 0 });
    expect(unknownWidth).toBe('error: a file that was submitted\n');
    const withHint = new SvcError('conflict', 'already submitted', { hint: 'To submit it again:', next });
    expect(reportError(withHint, style)).toBe(
      ['error: already submitted', 'hint: To submit it again:', command, ''].join('\n'),
    );
    const alone = new SvcError('conflict', 'already submitted', { next });
    expect(reportError(alone, style)).toBe(['error: already submitted', 'next:', command, ''].join('\n'));
    expect(parsed(reportError(alone, program))).toMatchObject({ next: command.trim(), next_words: ['svc', ...next] });
  });

  it('an error for a person survives whatever was thrown', () => {
    expect(reportThrown(Object.create(null), person)).toContain('something that cannot be shown');
    expect(reportThrown(undefined, person)).toContain('unexpected failure: undefined');
    const facts: Record<string, unknown> = {};
    facts['ring'] = facts;
    expect(parsed(reportError(new SvcError('rejected', 'no', { facts }), program))).toMatchObject({ code: 'rejected' });
  });

  it.each([
    ['EACCES', 'not allowed for this user'],
    ['ELOOP', 'its links lead in a circle'],
    ['ENOTDIR', 'it is not a directory, or below something that is none'],
    ['EISDIR', 'it is a directory, and a file is expected there'],
    ['ENAMETOOLONG', 'its name is too long'],
  ])(
    'an error for a person says of a path that the system refuses why, and not that svc has a bug: %s',
    (code, why) => {
      const refused = Object.assign(new Error(`${code}: lstat`), { code, path: '/some/x.json' });
      const text = reportThrown(refused, person);
      expect(text).toContain(`error: /some/x.json cannot be used: ${why} (${code})\nhint: Check the path`);
      expect(text).not.toContain('bug');
      expect(reportThrown(Object.assign(refused, { code: 'EBADF' }), person)).toContain('bug');
    },
  );

  it('an error for a person says of a fault of the tool what to do, with a stack only for --debug', () => {
    const fault = new TypeError('x is not a function');
    const text = reportThrown(fault, person);
    expect(text).toContain('error: unexpected failure: x is not a function\nhint: ');
    expect(text).not.toContain('    at ');
    expect(reportThrown(fault, { ...person, debug: true })).toContain('    at ');
    expect(reportThrown('thrown text', person)).toContain('unexpected failure: thrown text');
  });
});

describe('an error for a program', () => {
  it('R52: an error for a program is one JSON object on one line whose members no fact can replace', () => {
    expect(parsed(reportError(refused, { ...program, command: 'tenant update' }))).toEqual({
      code: 'rejected',
      message: 'the service refused the tenant\u001b[31m',
      status: 422,
      hint: 'Correct the name and run the command again',
      retryable: false,
      exit_code: 6,
      request_id: 'req-1',
      command: 'tenant update',
      problems: ['name: too long', { path: 'x', rule: 'y\u202e' }],
      job_id: 'j1',
    });
    expect(reportError(refused, program)).not.toContain('\u202e');
  });

  it('an error for a program leaves out what is not known', () => {
    expect(Object.keys(parsed(reportError(new SvcError('network', 'no answer'), program)))).toEqual([
      'code',
      'message',
      'retryable',
      'exit_code',
    ]);
  });

  it('an error for a program holds the stacks of the causes too for --debug, and survives causes in a ring', () => {
    const ring = new Error('a');
    ring.cause = new Error('b', { cause: ring });
    expect(parsed(reportThrown(ring, { machine: true, debug: true }))['stack']).toHaveLength(4);
  });
});
