import { entry, type GroupSpec } from '../../app/command.ts';

/** `svc tenant` */
export const tenant: GroupSpec = {
  commands: [
    entry(
      'show',
      'the tenant, with a visible TEST or PRODUCTION mark',
      async () => (await import('./show.ts')).show,
    ),
    entry(
      'update',
      'change the name or settings; shows the difference and asks first',
      async () => (await import('./update.ts')).update,
    ),
    entry(
      'usage',
      'tokens by type, and the share of the included monthly active tokens',
      async () => (await import('./usage.ts')).usage,
    ),
    entry(
      'delete',
      'delete the tenant with all that it holds; its name must be typed first',
      async () => (await import('./delete.ts')).deleteTenant,
    ),
  ],
  defaultCommand: 'show',
};
