import { entry, type GroupSpec } from '../../app/command.ts';

/** `svc sandbox` */
export const sandbox: GroupSpec = {
  commands: [
    entry(
      'start',
      'run the sandbox as a server on loopback until it is interrupted',
      async () => (await import('./start.ts')).start,
    ),
    entry(
      'exec',
      'run a command against a sandbox of its own, and say what it asked for',
      async () => (await import('./exec.ts')).exec,
    ),
    entry(
      'cards',
      'the card tokens of the sandbox, and what comes of each',
      async () => (await import('./inspect.ts')).cards,
    ),
    entry('clock', "move the sandbox's time, or show it", async () => (await import('./control.ts')).clock),
    entry(
      'requests',
      'every request that reached the sandbox, and every event that it brought to a webhook',
      async () => (await import('./inspect.ts')).requests,
    ),
    entry(
      'reset',
      'forget everything that happened in the sandbox',
      async () => (await import('./control.ts')).reset,
    ),
    entry(
      'openapi',
      'an OpenAPI 3.1 document of every endpoint that the sandbox has',
      async () => (await import('./inspect.ts')).openapi,
    ),
  ],
};
