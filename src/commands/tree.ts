import { type Command, defineCommand, entry, type Entry, group, type Program } from '../app/command.ts';
import { GLOBAL_PARAMETERS } from '../app/parameter.ts';
import { VERSION } from '../version.ts';

const LOGS: readonly Entry[] = [
  entry('list', 'list log entries: the newest page, or more with --limit and --all', () => import('./logs/list.ts')),
  entry('tail', 'follow the logs without losing or repeating an entry', () => import('./logs/tail.ts')),
  entry('archive', 'create or update an archive of the logs', () => import('./logs/archive.ts')),
  entry(
    'search',
    'find log entries in an archive, and with --live in the service too',
    () => import('./logs/search.ts'),
  ),
  entry(
    'history',
    'show everything known about one entity, from an archive and the service',
    () => import('./logs/search.ts'),
  ),
  entry(
    'verify',
    'verify that nothing in an archive was changed, removed, reordered, truncated or added',
    () => import('./logs/verify.ts'),
  ),
  entry('stats', 'count log entries by hour, entity type, operation and actor', () => import('./logs/stats.ts')),
  entry(
    'review',
    'review a day of an archive: deletions, changes, new actors, busy hours',
    () => import('./logs/review.ts'),
  ),
  entry(
    'evidence',
    'write a bundle for an auditor, which can be checked without svc',
    () => import('./logs/evidence.ts'),
  ),
  entry('entity-types', 'list the values of --entity-type', () => import('./logs/entity-types.ts')),
];

const TENANT: readonly Entry[] = [
  entry('show', 'show the tenant, marked TEST or PRODUCTION', () => import('./tenant/show.ts')),
  entry(
    'update',
    'change the name or settings, after showing the difference and asking',
    () => import('./tenant/update.ts'),
  ),
  entry('export', 'write the name and settings as YAML, to keep and to compare', () => import('./tenant/show.ts')),
  entry(
    'diff',
    'show where the tenant is not as a file says; exit code 10 if it differs',
    () => import('./tenant/show.ts'),
  ),
  entry(
    'usage',
    'show tokens by type and the share of the included monthly active tokens',
    () => import('./tenant/usage.ts'),
  ),
  entry(
    'delete',
    'delete the tenant and everything in it, after its name is typed',
    () => import('./tenant/delete.ts'),
  ),
];

const THREE_DS: readonly Entry[] = [
  entry('create', 'create a session for a card token or a card token intent', () => import('./3ds/session.ts')),
  entry('show', 'show a session: its card, device, versions and outcome', () => import('./3ds/session.ts')),
  entry('template', 'print a commented request body with only the required fields', () => import('./3ds/body.ts')),
  entry('validate', 'check the body of an authentication against every rule, offline', () => import('./3ds/body.ts')),
  entry(
    'authenticate',
    'authenticate the cardholder of a session, and explain the outcome',
    () => import('./3ds/authenticate.ts'),
  ),
  entry('challenge-result', 'get the result of a challenge, or wait for it', () => import('./3ds/session.ts')),
  entry('run', 'run one scenario from session to outcome, and compare the status', () => import('./3ds/run.ts')),
  entry(
    'test',
    'run many scenarios side by side, for CI; without a file, all test cards',
    () => import('./3ds/test.ts'),
  ),
  entry('explain', 'explain a status, reason or EMV code and what to do, offline', () => import('./3ds/explain.ts')),
];

const RUNS: readonly Entry[] = [
  entry('list', 'list the runs recorded on this machine, newest first', () => import('./au/recorded.ts')),
  entry('prune', 'remove the results that old runs keep', () => import('./au/recorded.ts')),
];

const ACCOUNT_UPDATER: readonly Entry[] = [
  entry(
    'submit',
    'check a request file, create a job, upload it; with --wait also wait and summarize',
    () => import('./au/submit.ts'),
  ),
  entry('prepare', 'make a request file of an export from a database or spreadsheet', () => import('./au/prepare.ts')),
  entry('check', 'check request files without sending anything', () => import('./au/check.ts')),
  entry(
    'create',
    'create a job, which waits an hour for its file (a single step of submit)',
    () => import('./au/jobs.ts'),
    { hidden: true },
  ),
  entry('upload', 'upload a request file to a pending job (a single step of submit)', () => import('./au/jobs.ts'), {
    hidden: true,
  }),
  entry('status', 'show a run part by part, or one job', () => import('./au/jobs.ts')),
  entry('jobs', 'list jobs of the tenant, newest first', () => import('./au/jobs.ts')),
  group('runs', 'list the runs recorded on this machine, and remove old ones', RUNS, 'list'),
  entry('wait', 'wait until a job or run has completed or failed', () => import('./au/wait.ts')),
  entry('download', 'download the results of a completed job or run', () => import('./au/download.ts')),
  entry('sync', 'advance all open runs once and download finished results', () => import('./au/sync.ts')),
  entry('abandon', "abandon a run: 'au sync' will skip it", () => import('./au/abandon.ts')),
  entry('report', 'summarize a result file: counts and next action per result code', () => import('./au/report.ts')),
  entry('next', 'create the next request file from the last one and its results', () => import('./au/next.ts')),
];

const EVENTS: readonly Entry[] = [
  entry(
    'listen',
    'receive webhook events on this machine and print them as they arrive',
    () => import('./events/listen.ts'),
  ),
  entry('replay', 'send events of a journal again, in order', () => import('./events/replay.ts')),
  entry('trigger', 'send a sample event, as the service would', () => import('./events/trigger.ts')),
];

const SANDBOX: readonly Entry[] = [
  entry('start', 'run the sandbox as a server on loopback until it is interrupted', () => import('./sandbox/start.ts')),
  entry(
    'exec',
    'run a command against a temporary sandbox, and report its requests',
    () => import('./sandbox/exec.ts'),
  ),
  entry('cards', 'list the card tokens of the sandbox, and the result of each', () => import('./sandbox/cards.ts')),
  entry('clock', "move the sandbox's clock, or show it", () => import('./sandbox/control.ts')),
  entry(
    'requests',
    'list the requests that the sandbox received, and the events that it delivered',
    () => import('./sandbox/control.ts'),
  ),
  entry('reset', 'delete all jobs, files and logs of the sandbox', () => import('./sandbox/control.ts')),
  entry(
    'openapi',
    'print an OpenAPI 3.1 document of the endpoints of the sandbox',
    () => import('./sandbox/control.ts'),
  ),
];

const PROFILE: readonly Entry[] = [
  entry('list', 'list the stored profiles and the built-in sandbox', () => import('./profile/profile.ts')),
  entry('show', 'show the settings of a profile, and which keys are stored', () => import('./profile/profile.ts')),
  entry('use', 'choose the default profile', () => import('./profile/profile.ts')),
  entry(
    'set',
    'change a setting of the profile in use, or of the one named with --profile',
    () => import('./profile/set.ts'),
  ),
  entry('delete', 'delete a profile with its stored keys', () => import('./profile/profile.ts')),
];

export const TREE: readonly Entry[] = [
  group('logs', 'read, follow and archive audit logs', LOGS, 'list'),
  group('tenant', 'show and change the tenant of your keys', TENANT, 'show'),
  group('3ds', 'authenticate cardholders with 3-D Secure', THREE_DS),
  group('au', 'refresh card tokens in batch jobs (Account Updater)', ACCOUNT_UPDATER),
  group('events', 'receive, resend and simulate webhook events', EVENTS),
  group('sandbox', 'emulate the service on this machine', SANDBOX),
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
  group('profile', 'manage profiles: named settings and keys', PROFILE, 'list'),
  entry('reset', 'remove all files that svc keeps', () => import('./reset.ts')),
  entry('completion', 'install completion of commands, options and values', () => import('./completion.ts')),
  entry('commands', 'print the command tree as data', async () => {
    const { commandsCommand } = await import('./commands.ts');
    return { commands: commandsCommand(TREE, GLOBAL_PARAMETERS) };
  }),
];

const AUTH: readonly Entry<Command>[] = [
  entry('login', 'the same as svc login', () => import('./login.ts')),
  entry('status', 'the same as svc whoami', async () => ({ status: (await import('./whoami.ts')).whoami })),
  entry('logout', 'the same as svc logout', () => import('./profile/profile.ts')),
];

/** Words of other tools for commands that stand in the tree above; lists and completion leave them out. */
const ALIASES: readonly Entry[] = [
  entry('version', 'show the version', async () => ({ version }), { hidden: true }),
  { ...group('auth', 'log in, show who you are, log out', AUTH), hidden: true },
];

const version = defineCommand({
  examples: [['svc version', 'the same as svc --version']],
  anySettings: true,
  parameters: {},
  run: ({ out }) => out.write(`${VERSION}\n`),
});

export const PROGRAM: Program = {
  tree: [...TREE, ...ALIASES],
  welcome: entry('svc', 'show the current profile, and what to do next', async () => ({
    svc: (await import('./greet.ts')).welcome,
  })),
};
