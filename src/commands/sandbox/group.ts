import { entry, type GroupSpec } from '../../app/command.ts';

export const sandbox: GroupSpec = {
  commands: [
    entry('start', 'run the sandbox as a server on loopback until it is interrupted', () => import('./start.ts')),
    entry('exec', 'run a command against a temporary sandbox, and report its requests', () => import('./exec.ts')),
    entry('cards', 'list the card tokens of the sandbox, and the result of each', () => import('./inspect.ts')),
    entry('clock', "move the sandbox's clock, or show it", () => import('./control.ts')),
    entry(
      'requests',
      'list the requests that the sandbox received, and the events that it delivered',
      () => import('./inspect.ts'),
    ),
    entry('reset', 'delete all jobs, files and logs of the sandbox', () => import('./control.ts')),
    entry('openapi', 'print an OpenAPI 3.1 document of the endpoints of the sandbox', () => import('./inspect.ts')),
  ],
};
