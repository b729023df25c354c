import { entry, type GroupSpec } from '../../app/command.ts';

export const events: GroupSpec = {
  commands: [
    entry(
      'listen',
      'receive webhook events on this machine and print them as they arrive',
      async () => (await import('./listen.ts')).listen,
    ),
    entry('replay', 'send events of a journal again, in order', async () => (await import('./replay.ts')).replay),
    entry('trigger', 'send a sample event, as the service would', async () => (await import('./trigger.ts')).trigger),
  ],
};
