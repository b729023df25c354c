// Every word of the command line, with its summary and the file of its command.

import { entry, type Entry, type Example, group, type Program } from './cli/app/command.ts';
import { GLOBAL_PARAMETERS } from './cli/app/global-parameters.ts';

const LOGS: readonly Entry[] = [
  entry('list', 'list entries, usually the newest first', () => import('./logs/commands/list.ts')),
  entry('tail', 'follow the logs; no entry is lost or repeated', () => import('./logs/commands/tail.ts')),
  entry('archive', 'create or update an archive of the logs', () => import('./logs/commands/archive.ts')),
  entry('search', 'find entries in an archive; --live adds newer ones', () => import('./logs/commands/search.ts')),
  entry('history', 'show all that happened to one entity', () => import('./logs/commands/history.ts')),
  entry('verify', 'prove that nothing in an archive was changed or removed', () => import('./logs/commands/verify.ts')),
  entry('stats', 'count entries by hour, entity type, operation and actor', () => import('./logs/commands/stats.ts')),
  entry(
    'review',
    'review a day: deletions, changes, new actors, busy hours',
    () => import('./logs/commands/review.ts'),
  ),
  entry(
    'evidence',
    'write a bundle that an auditor can check without svc',
    () => import('./logs/commands/evidence.ts'),
  ),
  entry('entity-types', 'list the values of --entity-type', () => import('./logs/commands/entity-types.ts')),
];

const TENANT: readonly Entry[] = [
  entry('show', 'show the tenant, marked TEST or PRODUCTION', () => import('./tenant/commands/show.ts')),
  entry(
    'update',
    'change the name or settings; shows the difference and asks first',
    () => import('./tenant/commands/update.ts'),
  ),
  entry(
    'export',
    'print the name and settings as YAML, to keep and compare',
    () => import('./tenant/commands/export.ts'),
  ),
  entry(
    'diff',
    'compare the tenant with a file; exit code 10 if it differs',
    () => import('./tenant/commands/diff.ts'),
  ),
  entry(
    'usage',
    'show token counts, and the share of the plan that is used',
    () => import('./tenant/commands/usage.ts'),
  ),
  entry(
    'delete',
    'delete the tenant and everything in it; asks for its name first',
    () => import('./tenant/commands/delete.ts'),
  ),
];

const THREE_DS: readonly Entry[] = [
  entry('create', 'create a session for a card token or a card token intent', () => import('./3ds/commands/create.ts')),
  entry('show', 'show a session: its card, device, versions and outcome', () => import('./3ds/commands/show.ts')),
  entry(
    'template',
    'print a commented request body with only the required fields',
    () => import('./3ds/commands/template.ts'),
  ),
  entry(
    'validate',
    'check an authentication body against every rule, offline',
    () => import('./3ds/commands/validate.ts'),
  ),
  entry(
    'authenticate',
    'authenticate the cardholder of a session, and explain the outcome',
    () => import('./3ds/commands/authenticate.ts'),
  ),
  entry(
    'challenge-result',
    'get the result of a challenge, or wait for it',
    () => import('./3ds/commands/challenge-result.ts'),
  ),
  entry('run', 'run one scenario from session to outcome', () => import('./3ds/commands/run.ts')),
  entry(
    'test',
    'run many scenarios side by side, for CI; by default all test cards',
    () => import('./3ds/commands/test.ts'),
  ),
];

const ACCOUNT_UPDATER: readonly Entry[] = [
  entry(
    'refresh',
    'take an export through a cycle: prepare, submit, wait, report',
    () => import('./au/commands/refresh.ts'),
  ),
  entry(
    'submit',
    'check a request file and submit it; with --wait, get the results',
    () => import('./au/commands/submit.ts'),
  ),
  entry(
    'resume',
    'go on with everything open; or with one cycle or job; with --wait, wait for the results',
    () => import('./au/commands/resume.ts'),
  ),
  entry('status', 'show what is open; or one cycle or job', () => import('./au/commands/status.ts')),
  entry('download', 'download the results of a job', () => import('./au/commands/download.ts')),
  entry('report', 'summarize a result file: counts and what to do per code', () => import('./au/commands/report.ts')),
  entry('check', 'check request files offline', () => import('./au/commands/check.ts')),
  entry('next', 'make the next request from the last results', () => import('./au/commands/next.ts')),
  // The steps of the commands above, and what is seldom needed: lists leave these out.
  entry(
    'prepare',
    'make a request file from a database or spreadsheet export',
    () => import('./au/commands/prepare.ts'),
    { hidden: true },
  ),
  entry(
    'create',
    'create a job, which waits an hour for its file (one step of submit)',
    () => import('./au/commands/create.ts'),
    { hidden: true },
  ),
  entry(
    'upload',
    'upload a request file to a pending job (one step of submit)',
    () => import('./au/commands/upload.ts'),
    { hidden: true },
  ),
  entry('jobs', 'list jobs of the tenant, newest first', () => import('./au/commands/jobs.ts'), { hidden: true }),
  entry('prune', 'remove the rows and results of old jobs from this machine', () => import('./au/commands/prune.ts'), {
    hidden: true,
  }),
  entry(
    'abandon',
    'free the rows of a job in doubt, which are then sent again',
    () => import('./au/commands/abandon.ts'),
    { hidden: true },
  ),
  entry('ignore', 'let a job of another system stop no upload', () => import('./au/commands/ignore.ts'), {
    hidden: true,
  }),
];

const EVENTS: readonly Entry[] = [
  entry('listen', 'receive webhook events on this machine and print them', () => import('./events/commands/listen.ts')),
  entry('replay', 'send the events of a journal again, in order', () => import('./events/commands/replay.ts')),
  entry('trigger', 'send a sample event, as the service would', () => import('./events/commands/trigger.ts')),
];

const SANDBOX: readonly Entry[] = [
  entry(
    'start',
    'run the sandbox as a server on loopback until it is interrupted',
    () => import('./sandbox/commands/start.ts'),
  ),
  entry(
    'exec',
    'run a command against a temporary sandbox, and report its requests',
    () => import('./sandbox/commands/exec.ts'),
  ),
  entry('cards', 'list the test card tokens, and the result of each', () => import('./sandbox/commands/cards.ts')),
  entry('outcome', 'list or set the 3-D Secure outcomes of the sandbox', () => import('./sandbox/commands/outcome.ts')),
  entry('clock', "show or move the sandbox's clock", () => import('./sandbox/commands/clock.ts')),
  entry(
    'requests',
    'list the requests that the sandbox received and the events it sent',
    () => import('./sandbox/commands/requests.ts'),
  ),
  entry('reset', 'delete all jobs, files and logs of the sandbox', () => import('./sandbox/commands/reset.ts')),
];

const PROFILE: readonly Entry[] = [
  entry(
    'list',
    'list the stored profiles and the built-in sandbox',
    () => import('./general/commands/profile/list.ts'),
  ),
  entry(
    'show',
    'show the settings of a profile, and which keys are stored',
    () => import('./general/commands/profile/show.ts'),
  ),
  entry('use', 'choose the default profile', () => import('./general/commands/profile/use.ts')),
  entry(
    'set',
    'change a setting of the profile in use, or of --profile',
    () => import('./general/commands/profile/set.ts'),
  ),
  entry('delete', 'delete a profile with its stored keys', () => import('./general/commands/profile/delete.ts')),
];

/** Commands that `svc --help` leaves to `svc help`. */
const RARE = { rare: true } as const;

export const TREE: readonly Entry[] = [
  group('logs', 'read, follow and archive audit logs', LOGS, { defaultCommand: 'list' }),
  group('tenant', 'show and change the tenant of your keys', TENANT, { defaultCommand: 'show' }),
  group('3ds', 'authenticate cardholders with 3-D Secure', THREE_DS),
  group('au', 'refresh card tokens in batch jobs (Account Updater)', ACCOUNT_UPDATER),
  group('events', 'receive, resend and simulate webhook events', EVENTS),
  group('sandbox', 'emulate the service on this machine', SANDBOX),
  entry(
    'api',
    'call any API endpoint, with the same keys, retries and limits',
    () => import('./general/commands/api.ts'),
  ),
  entry('login', 'verify your keys and store them in a profile', () => import('./general/commands/login.ts')),
  entry('logout', 'remove the stored keys of a profile', () => import('./general/commands/logout.ts')),
  entry(
    'whoami',
    'show the tenant, what the keys may do, and the settings',
    () => import('./general/commands/whoami.ts'),
  ),
  entry(
    'doctor',
    'find problems of configuration, network and keys, and their fix',
    () => import('./general/commands/doctor.ts'),
  ),
  group('profile', 'manage profiles: named settings and keys', PROFILE, { defaultCommand: 'list' }),
  entry(
    'explain',
    'explain a code, status, setting, field or limit, offline',
    () => import('./general/commands/explain.ts'),
  ),
  entry('reset', 'remove all files that svc keeps on this machine', () => import('./general/commands/reset.ts'), RARE),
  entry(
    'completion',
    'install TAB completion of commands, options and values',
    () => import('./general/commands/completion.ts'),
    RARE,
  ),
  entry(
    'commands',
    'print the command tree as data',
    async () => {
      const { commandsCommand } = await import('./general/commands/commands.ts');
      return { commands: commandsCommand(TREE, GLOBAL_PARAMETERS) };
    },
    RARE,
  ),
];

const EXAMPLES: readonly Example[] = [
  ['svc --sandbox logs --entity-type card', 'try it: no account, no network'],
  ['svc login', 'save your API keys'],
  ['svc au submit tokens.csv --wait', 'refresh card tokens'],
];

export const PROGRAM: Program = {
  tree: TREE,
  welcome: entry('svc', 'show the current profile, and what to do next', async () => ({
    svc: (await import('./general/commands/welcome.ts')).welcome,
  })),
  examples: EXAMPLES,
  otherTools: async () => (await import('./general/other-tools.ts')).OTHER_TOOLS,
};
