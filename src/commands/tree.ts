import type { Entry } from '../app/command.ts';
import { GLOBAL_PARAMETERS } from '../app/parameter.ts';

/** The whole program, in the order of its help. */
export const TREE: readonly Entry[] = [
  {
    name: 'logs',
    summary: 'audit logs of the tenant',
    load: async () => (await import('./logs/group.ts')).logs,
  },
  {
    name: 'tenant',
    summary: 'the tenant that the key belongs to',
    load: async () => (await import('./tenant/group.ts')).tenant,
  },
  {
    name: '3ds',
    summary: '3-D Secure: authenticate the cardholder behind a card token',
    load: async () => (await import('./3ds/group.ts')).threeDs,
  },
  {
    name: 'au',
    summary: 'Account Updater: refresh card tokens in batch jobs',
    load: async () => (await import('./au/group.ts')).au,
  },
  {
    name: 'events',
    summary: 'webhook events: receive, send again, send a sample',
    load: async () => (await import('./events/group.ts')).events,
  },
  {
    name: 'sandbox',
    summary: 'the service emulated on this machine',
    load: async () => (await import('./sandbox/group.ts')).sandbox,
  },
  {
    name: 'api',
    summary: 'any endpoint, with the same keys, retries, limits and paging',
    load: async () => (await import('./api.ts')).api,
  },
  {
    name: 'login',
    summary: 'check your keys and store them with the base URL in a profile',
    load: async () => (await import('./login.ts')).login,
  },
  {
    name: 'logout',
    summary: 'remove the stored keys of a profile',
    load: async () => (await import('./logout.ts')).logout,
  },
  {
    name: 'whoami',
    summary: 'profile, base URL, tenant, where each setting came from, what each key may read',
    load: async () => (await import('./whoami.ts')).whoami,
  },
  {
    name: 'doctor',
    summary: 'check configuration, connectivity and keys, with a fix for every problem',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  {
    name: 'profile',
    summary: 'named settings: list, show, use, set, delete',
    load: async () => (await import('./profile/profile.ts')).profile,
  },
  {
    name: 'completion',
    summary: 'completion of commands, options and values with TAB',
    load: async () => (await import('./completion.ts')).completion,
  },
  {
    name: 'commands',
    summary: 'every command as data: options, values, permissions, exit codes',
    load: async () => {
      const { commandsCommand } = await import('./commands.ts');
      return commandsCommand(TREE, GLOBAL_PARAMETERS);
    },
  },
];
