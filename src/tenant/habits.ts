import type { Habits } from '../cli/app/habits.ts';

/** What people type out of habit with other tools, for the tenant. */
export const TENANT_HABITS: Habits = {
  commands: [
    ['tenant list', 'tenant show', 'A key belongs to one tenant.'],
    ['tenant import', 'tenant update --file <file>'],
    ['tenant switch', 'profile use <name>'],
    ['tenant create', '', 'A tenant is created at the service, not with a key of another tenant.'],
  ],
  extraWords: [
    ['tenant delete', 'tenant delete --confirm <id>'],
    ['tenant diff', 'tenant diff <file>', 'For two tenants: svc tenant export -p one | svc tenant diff - -p other'],
    ['tenant export', 'tenant export', 'It prints to standard output: svc tenant export > tenant.yaml'],
    ['tenant update', 'tenant update --name <name>', 'A setting is changed with --set <setting>=<value>.'],
  ],
};
