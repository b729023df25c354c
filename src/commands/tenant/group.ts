import { entry, type GroupSpec } from '../../app/command.ts';

export const tenant: GroupSpec = {
  commands: [
    entry('show', 'show the tenant, marked TEST or PRODUCTION', () => import('./show.ts')),
    entry(
      'update',
      'change the name or settings, after showing the difference and asking',
      () => import('./update.ts'),
    ),
    entry('export', 'write the name and settings as YAML, to keep and to compare', async () => ({
      export: (await import('./show.ts')).exportTenant,
    })),
    entry('diff', 'show where the tenant is not as a file says; exit code 10 if it differs', () => import('./show.ts')),
    entry(
      'usage',
      'show tokens by type and the share of the included monthly active tokens',
      () => import('./usage.ts'),
    ),
    entry('delete', 'delete the tenant and everything in it, after its name is typed', async () => ({
      delete: (await import('./delete.ts')).deleteTenant,
    })),
  ],
  defaultCommand: 'show',
};
