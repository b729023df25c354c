import { entry, type GroupSpec } from '../../app/command.ts';

export const threeDs: GroupSpec = {
  commands: [
    entry(
      'create',
      'create a session for a card token or a card token intent',
      async () => (await import('./session.ts')).create,
    ),
    entry(
      'show',
      'show a session: its card, device, versions and outcome',
      async () => (await import('./session.ts')).show,
    ),
    entry(
      'template',
      'print a commented request body with only the required fields',
      async () => (await import('./body.ts')).template,
    ),
    entry(
      'validate',
      'check the body of an authentication against every rule, offline',
      async () => (await import('./body.ts')).validate,
    ),
    entry(
      'authenticate',
      'authenticate the cardholder of a session, and explain the outcome',
      async () => (await import('./authenticate.ts')).authenticate,
    ),
    entry(
      'challenge-result',
      'get the result of a challenge, or wait for it',
      async () => (await import('./challenge-result.ts')).challengeResult,
    ),
    entry(
      'run',
      'run one scenario from session to outcome, and compare the status',
      async () => (await import('./run.ts')).run,
    ),
    entry(
      'test',
      'run many scenarios side by side, for CI; without a file, all test cards',
      async () => (await import('./test.ts')).test,
    ),
    entry(
      'explain',
      'explain a status, reason or EMV code and what to do, offline',
      async () => (await import('./explain.ts')).explain,
    ),
  ],
};
