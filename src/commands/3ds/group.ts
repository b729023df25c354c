import { entry, type GroupSpec } from '../../app/command.ts';

export const threeDs: GroupSpec = {
  commands: [
    entry('create', 'create a session for a card token or a card token intent', () => import('./session.ts')),
    entry('show', 'show a session: its card, device, versions and outcome', () => import('./session.ts')),
    entry('template', 'print a commented request body with only the required fields', () => import('./body.ts')),
    entry('validate', 'check the body of an authentication against every rule, offline', () => import('./body.ts')),
    entry(
      'authenticate',
      'authenticate the cardholder of a session, and explain the outcome',
      () => import('./authenticate.ts'),
    ),
    entry('challenge-result', 'get the result of a challenge, or wait for it', () => import('./session.ts')),
    entry('run', 'run one scenario from session to outcome, and compare the status', () => import('./run.ts')),
    entry('test', 'run many scenarios side by side, for CI; without a file, all test cards', () => import('./test.ts')),
    entry('explain', 'explain a status, reason or EMV code and what to do, offline', () => import('./explain.ts')),
  ],
};
