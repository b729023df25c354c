import { type Command, defineCommand, entry, type Entry, type Program } from '../app/command.ts';
import { GLOBAL_PARAMETERS } from '../app/parameter.ts';
import { VERSION } from '../version.ts';

export const TREE: readonly Entry[] = [
  entry('logs', 'read, follow and archive audit logs', async () => (await import('./logs/group.ts')).logs),
  entry('tenant', 'show and change the tenant of your keys', async () => (await import('./tenant/group.ts')).tenant),
  entry('3ds', 'authenticate cardholders with 3-D Secure', async () => (await import('./3ds/group.ts')).threeDs),
  entry('au', 'refresh card tokens in batch jobs (Account Updater)', async () => (await import('./au/group.ts')).au),
  entry(
    'events',
    'receive, resend and simulate webhook events',
    async () => (await import('./events/group.ts')).events,
  ),
  entry('sandbox', 'emulate the service on this machine', async () => (await import('./sandbox/group.ts')).sandbox),
  entry(
    'api',
    'call any API endpoint (same auth, retries, rate limits and pagination)',
    async () => (await import('./api.ts')).api,
  ),
  entry('login', 'verify your keys and store them in a profile', async () => (await import('./login.ts')).login),
  entry('logout', 'remove the stored keys of a profile', async () => (await import('./logout.ts')).logout),
  entry(
    'whoami',
    'show profile, tenant, key permissions, and where each setting came from',
    async () => (await import('./whoami.ts')).whoami,
  ),
  entry(
    'doctor',
    'check configuration, connectivity and keys, with a fix for every problem',
    async () => (await import('./doctor.ts')).doctor,
  ),
  entry(
    'profile',
    'manage profiles: named settings and keys',
    async () => (await import('./profile/group.ts')).profile,
  ),
  entry(
    'completion',
    'install completion of commands, options and values',
    async () => (await import('./completion.ts')).completion,
  ),
  entry('commands', 'print the command tree as data', async () => {
    const { commandsCommand } = await import('./commands.ts');
    return commandsCommand(TREE, GLOBAL_PARAMETERS);
  }),
];

/** Words of other tools for commands that stand in the tree above; lists and completion leave them out. */
const ALIASES: readonly Entry[] = [
  entry('version', 'show the version', async () => version, { hidden: true }),
  entry('auth', 'log in, show who you are, log out', async () => ({ commands: AUTH }), { hidden: true }),
];

const version = defineCommand({
  examples: [['svc version', 'the same as svc --version']],
  anySettings: true,
  parameters: {},
  run: ({ out }) => out.write(`${VERSION}\n`),
});

const AUTH: readonly Entry<Command>[] = [
  entry('login', 'the same as svc login', async () => (await import('./login.ts')).login),
  entry('status', 'the same as svc whoami', async () => (await import('./whoami.ts')).whoami),
  entry('logout', 'the same as svc logout', async () => (await import('./logout.ts')).logout),
];

export const PROGRAM: Program = {
  tree: [...TREE, ...ALIASES],
  welcome: entry(
    'svc',
    'show the current profile, and what to do next',
    async () => (await import('./greet.ts')).welcome,
  ),
};
