import { entry, type GroupSpec } from '../../app/command.ts';

export const events: GroupSpec = {
  commands: [
    entry(
      'listen',
      'receive webhook events on this machine and print them as they arrive',
      () => import('./listen.ts'),
    ),
    entry('replay', 'send events of a journal again, in order', () => import('./replay.ts')),
    entry('trigger', 'send a sample event, as the service would', () => import('./trigger.ts')),
  ],
};
