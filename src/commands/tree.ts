import { type Command, defineCommand, entry, type Entry, type Program } from '../app/command.ts';
import { GLOBAL_PARAMETERS } from '../app/parameter.ts';
import { VERSION } from '../version.ts';

export const TREE: readonly Entry[] = [
  entry('logs', 'read, follow and archive audit logs', () => import('./logs/group.ts')),
  entry('tenant', 'show and change the tenant of your keys', () => import('./tenant/group.ts')),
  entry('3ds', 'authenticate cardholders with 3-D Secure', async () => ({
    '3ds': (await import('./3ds/group.ts')).threeDs,
  })),
  entry('au', 'refresh card tokens in batch jobs (Account Updater)', () => import('./au/group.ts')),
  entry('events', 'receive, resend and simulate webhook events', () => import('./events/group.ts')),
  entry('sandbox', 'emulate the service on this machine', () => import('./sandbox/group.ts')),
  entry('api', 'call any API endpoint (same auth, retries, rate limits and pagination)', () => import('./api.ts')),
  entry('login', 'verify your keys and store them in a profile', () => import('./login.ts')),
  entry('logout', 'remove the stored keys of a profile', () => import('./profile/profile.ts')),
  entry(
    'whoami',
    'show profile, tenant, key permissions, and where each setting came from',
    () => import('./whoami.ts'),
  ),
  entry(
    'doctor',
    'check configuration, connectivity and keys, with a fix for every problem',
    () => import('./doctor.ts'),
  ),
  entry('profile', 'manage profiles: named settings and keys', () => import('./profile/group.ts')),
  entry('reset', 'remove all files that svc keeps', () => import('./reset.ts')),
  entry('completion', 'install completion of commands, options and values', () => import('./completion.ts')),
  entry('commands', 'print the command tree as data', async () => {
    const { commandsCommand } = await import('./commands.ts');
    return { commands: commandsCommand(TREE, GLOBAL_PARAMETERS) };
  }),
];

/** Words of other tools for commands that stand in the tree above; lists and completion leave them out. */
const ALIASES: readonly Entry[] = [
  entry('version', 'show the version', async () => ({ version }), { hidden: true }),
  entry('auth', 'log in, show who you are, log out', async () => ({ auth: { commands: AUTH } }), { hidden: true }),
];

const version = defineCommand({
  examples: [['svc version', 'the same as svc --version']],
  anySettings: true,
  parameters: {},
  run: ({ out }) => out.write(`${VERSION}\n`),
});

const AUTH: readonly Entry<Command>[] = [
  entry('login', 'the same as svc login', () => import('./login.ts')),
  entry('status', 'the same as svc whoami', async () => ({ status: (await import('./whoami.ts')).whoami })),
  entry('logout', 'the same as svc logout', () => import('./profile/profile.ts')),
];

export const PROGRAM: Program = {
  tree: [...TREE, ...ALIASES],
  welcome: entry('svc', 'show the current profile, and what to do next', async () => ({
    svc: (await import('./greet.ts')).welcome,
  })),
};
