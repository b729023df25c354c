import { entry, type GroupSpec } from '../../app/command.ts';

export const tenant: GroupSpec = {
  commands: [
    entry('show', 'show the tenant, marked TEST or PRODUCTION', async () => (await import('./show.ts')).show),
    entry(
      'update',
      'change the name or settings, after showing the difference and asking',
      async () => (await import('./update.ts')).update,
    ),
    entry(
      'export',
      'write the name and settings as YAML, to keep and to compare',
      async () => (await import('./export.ts')).exportTenant,
    ),
    entry(
      'diff',
      'show where the tenant is not as a file says; exit code 10 if it differs',
      async () => (await import('./diff.ts')).diff,
    ),
    entry(
      'usage',
      'show tokens by type and the share of the included monthly active tokens',
      async () => (await import('./usage.ts')).usage,
    ),
    entry(
      'delete',
      'delete the tenant and everything in it, after its name is typed',
      async () => (await import('./delete.ts')).deleteTenant,
    ),
  ],
  defaultCommand: 'show',
};
