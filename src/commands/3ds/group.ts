import { entry, type GroupSpec } from '../../app/command.ts';

/** `svc 3ds` */
export const threeDs: GroupSpec = {
  commands: [
    entry(
      'create',
      'a session for a card token or a card token intent',
      async () => (await import('./session.ts')).create,
    ),
    entry(
      'show',
      'one session: its card, device, versions and outcome',
      async () => (await import('./session.ts')).show,
    ),
    entry(
      'template',
      'a body to start from: only the fields that are needed, with comments',
      async () => (await import('./template.ts')).template,
    ),
    entry(
      'validate',
      'check the body of an authentication against every rule, offline',
      async () => (await import('./validate.ts')).validate,
    ),
    entry(
      'authenticate',
      'authenticate the cardholder of a session, and explain the outcome',
      async () => (await import('./authenticate.ts')).authenticate,
    ),
    entry(
      'challenge-result',
      'what came of a challenge, at once or when it is done',
      async () => (await import('./challenge-result.ts')).challengeResult,
    ),
    entry(
      'explain',
      'what a status, reason or EMV code means and what to do, offline',
      async () => (await import('./explain.ts')).explain,
    ),
  ],
};
