import { entry, type GroupSpec } from '../../app/command.ts';

export const sandbox: GroupSpec = {
  commands: [
    entry(
      'start',
      'run the sandbox as a server on loopback until it is interrupted',
      async () => (await import('./start.ts')).start,
    ),
    entry(
      'exec',
      'run a command against a temporary sandbox, and report its requests',
      async () => (await import('./exec.ts')).exec,
    ),
    entry(
      'cards',
      'list the card tokens of the sandbox, and the result of each',
      async () => (await import('./inspect.ts')).cards,
    ),
    entry('clock', "move the sandbox's clock, or show it", async () => (await import('./control.ts')).clock),
    entry(
      'requests',
      'list the requests that the sandbox received, and the events that it delivered',
      async () => (await import('./inspect.ts')).requests,
    ),
    entry('reset', 'delete all jobs, files and logs of the sandbox', async () => (await import('./control.ts')).reset),
    entry(
      'openapi',
      'print an OpenAPI 3.1 document of the endpoints of the sandbox',
      async () => (await import('./inspect.ts')).openapi,
    ),
  ],
};
