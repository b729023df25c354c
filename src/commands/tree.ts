import { entry, type Entry, type Program } from '../app/command.ts';
import { GLOBAL_PARAMETERS } from '../app/parameter.ts';

/** The whole program, in the order of its help. */
export const TREE: readonly Entry[] = [
  entry('logs', 'audit logs of the tenant', async () => (await import('./logs/group.ts')).logs),
  entry(
    'tenant',
    'the tenant that the key belongs to',
    async () => (await import('./tenant/group.ts')).tenant,
  ),
  entry(
    '3ds',
    '3-D Secure: authenticate the cardholder behind a card token',
    async () => (await import('./3ds/group.ts')).threeDs,
  ),
  entry(
    'au',
    'Account Updater: refresh card tokens in batch jobs',
    async () => (await import('./au/group.ts')).au,
  ),
  entry(
    'events',
    'webhook events: receive, send again, send a sample',
    async () => (await import('./events/group.ts')).events,
  ),
  entry(
    'sandbox',
    'the service emulated on this machine',
    async () => (await import('./sandbox/group.ts')).sandbox,
  ),
  entry(
    'api',
    'call any API endpoint (same auth, retries, rate limits and pagination)',
    async () => (await import('./api.ts')).api,
  ),
  entry(
    'login',
    'check your keys and store them with the base URL in a profile',
    async () => (await import('./login.ts')).login,
  ),
  entry('logout', 'remove the stored keys of a profile', async () => (await import('./logout.ts')).logout),
  entry(
    'whoami',
    'profile, base URL, tenant, where each setting came from, what each key may read',
    async () => (await import('./whoami.ts')).whoami,
  ),
  entry(
    'doctor',
    'check configuration, connectivity and keys, with a fix for every problem',
    async () => (await import('./doctor.ts')).doctor,
  ),
  entry(
    'profile',
    'named settings: list, show, use, set, delete',
    async () => (await import('./profile/group.ts')).profile,
  ),
  entry(
    'completion',
    'completion of commands, options and values with TAB',
    async () => (await import('./completion.ts')).completion,
  ),
  entry('commands', 'every command as data: options, values, permissions, exit codes', async () => {
    const { commandsCommand } = await import('./commands.ts');
    return commandsCommand(TREE, GLOBAL_PARAMETERS);
  }),
];

/** The tree, and what `svc` alone runs. */
export const PROGRAM: Program = {
  tree: TREE,
  welcome: entry(
    'svc',
    'where you stand, and what to do next',
    async () => (await import('./greet.ts')).welcome,
  ),
};
