// The options of commands that start or control a sandbox.

import { existsSync, statSync } from 'node:fs';
import { readProblem, SvcError, systemCodeOf } from '../base/errors.ts';
import { readRegularFileSync } from '../base/files/read.ts';
import type { Context } from '../cli/app/command.ts';
import {
  foreignDirectoryError,
  readTyped,
  requireSandboxState,
  sandboxDirectory,
  startSandbox,
} from '../cli/app/embedded-sandbox.ts';
import {
  choice,
  flag,
  type Input,
  reading,
  repeated,
  type Suggestion,
  suggesting,
  value,
  rare,
} from '../cli/app/parameter.ts';
import { resolvePath } from '../cli/app/files/typed-path.ts';
import { hostName, integer, positiveDuration, text, textToSend, type ValueParser } from '../cli/app/value-parsers.ts';
import type { FaultChooser } from '../emulator/faults/fault.ts';
import type { Feature, SandboxOptions } from '../emulator/options.ts';
import type { RunningSandbox } from '../emulator/running-sandbox.ts';
import { MAX_TENANTS } from '../schema/sandbox.ts';
import type { TenantType } from '../schema/tenant.ts';

const tenantTypes: ValueParser<readonly TenantType[]> = (typed) => {
  const types = typed.split(',').flatMap((name) => TENANT_TYPES.find((type) => type === name.trim()) ?? []);
  if (types.length === typed.split(',').length && types.length <= MAX_TENANTS) return types;
  throw new SvcError('usage', `must be test or production for each of at most ${MAX_TENANTS} tenants, with commas`);
};

const TENANT_TYPES: readonly TenantType[] = ['test', 'production'];

const feature: ValueParser<Feature> = (typed) => {
  if (typed === '3ds' || typed === 'account-updater') return typed;
  throw new SvcError('usage', 'must be 3ds or account-updater');
};

export const directoryParameter = value('--directory <dir>', 'state directory (default: the one of --sandbox)', text);

export const SERVER_PARAMETERS = {
  seed: rare(value('--seed <n>', 'seed for generated data and fault probabilities', integer(0))),
  logCount: value('--logs <n>', 'number of generated log entries at the start', integer(0)),
  tenants: suggesting(
    { wordsOf: 'tenant type' },
    value('--tenants <types>', 'its tenants, such as test,production (default test)', tenantTypes),
  ),
  merchants: rare(repeated('--merchant-id <id>', 'a merchant id of a production tenant', textToSend)),
  acceptTokens: flag('--accept-tokens', 'each UUID is a card, and its result invented'),
  without: suggesting(
    () => [
      ['3ds', '3-D Secure'],
      ['account-updater', 'Account Updater jobs'],
    ],
    repeated('--without <feature>', 'leave out 3ds or account-updater', feature),
  ),
  order: rare(choice('--order <order>', 'order of its logs (default desc)', ['desc', 'asc'])),
  cursors: rare(
    choice('--cursors <use>', 'strict: only with the same filters and size (default any)', ['any', 'strict']),
  ),
  processingMs: value(
    '--processing <duration>',
    'how long a job takes after its upload (default 2s)',
    positiveDuration,
  ),
  allowHosts: rare(repeated('--allow-host <name>', 'another host name, such as that of a container', hostName)),
  limits: choice('--limits <when>', 'enforce rate limits (default off)', ['on', 'off']),
  noAuditReads: rare(flag('--no-audit-reads', 'do not log reads of the logs, which shift their pages')),
  webhooks: repeated('--webhook <url>', 'send events to this loopback address', text),
  webhookDuplicates: rare(flag('--webhook-duplicates', 'deliver each event twice')),
  fault: suggesting({ joined: faultWords }, repeated('--fault <fault>', "make requests fail: 'svc help faults'", text)),
  scenario: reading(value('--scenario <file>', "file with one fault per line (see 'svc help faults')", text)),
  jobIds: rare(choice('--job-ids <form>', 'plain: ids of jobs that are no UUIDs (default uuid)', ['uuid', 'plain'])),
  hideOpenChallenges: rare(flag('--hide-open-challenges', 'show no authentication while its challenge is open')),
  outcome: suggesting(
    { joined: outcomeWords },
    repeated('--outcome <outcome>', "decide 3DS: 'svc help outcomes'", text),
  ),
} as const;

/** Returns the effects of faults and the requests that faults can match, for completion. */
async function faultWords(): Promise<Suggestion[]> {
  const [{ EFFECT_EXAMPLES }, { wordsIn }, { default: words }] = await Promise.all([
    import('../emulator/faults/effect.ts'),
    import('../cli/glossary/glossary.ts'),
    import('../cli/glossary/service.json', { with: { type: 'json' } }),
  ]);
  const requests = wordsIn(words, 'endpoint').map(([name, means]): Suggestion => [
    `@${name.replaceAll(/\{[^}]*\}/g, '*')}`,
    means,
  ]);
  return [...EFFECT_EXAMPLES, ...requests];
}

/** Returns the words of outcomes and their targets, for completion. */
export async function outcomeWords(): Promise<Suggestion[]> {
  const { outcomeExamples } = await import('../schema/three-ds/outcome-words.ts');
  return [...outcomeExamples(), ['@card ', 'then a token, a scenario or four digits'], ['@session ', 'then its id']];
}

type ServerInput = Input<typeof SERVER_PARAMETERS>;

/**
 * Returns the given state directory, or the state directory of `--sandbox`.
 * @throws SvcError `local` for a file, `usage` for a directory with other files, and as `requireSandboxState`
 */
export async function directoryFrom(context: Context, given: string | undefined): Promise<string> {
  const directory = await directoryToReset(context, given);
  await requireSandboxState(context, directory);
  return directory;
}

/** Like `directoryFrom`, but accepts a sandbox with a damaged journal. */
export async function directoryToReset(context: Context, given: string | undefined): Promise<string> {
  const directory = given === undefined ? sandboxDirectory(context) : resolvePath(context, given);
  if (isTaken(directory)) {
    throw new SvcError('local', `the state of a sandbox cannot be kept at ${directory}: a file is there`, {
      hint: 'Name a directory with --directory; it is created where there is none.',
    });
  }
  const { directoryUse } = await import('../emulator/state/journal.ts');
  if (directoryUse(directory) === 'foreign') {
    const hint = 'Name the directory of a sandbox, or one that is empty or missing, with --directory.';
    throw foreignDirectoryError('usage', directory, hint);
  }
  return directory;
}

/** Whether the path of a directory, or a parent of it, is a file. */
function isTaken(directory: string): boolean {
  try {
    return !statSync(directory).isDirectory();
  } catch (error) {
    return systemCodeOf(error) === 'ENOTDIR';
  }
}

/** Like `directoryFrom`, for a command about a sandbox that was started before. @throws SvcError also as `requireThere` */
export async function startedDirectory(context: Context, given: string | undefined): Promise<string> {
  const directory = await directoryFrom(context, given);
  requireThere(directory, given);
  return directory;
}

/** Refuses a directory that was typed and does not exist, since nothing can be said of it. @throws SvcError `usage` */
export function requireThere(directory: string, given: string | undefined): void {
  if (given === undefined || existsSync(directory)) return;
  throw new SvcError('usage', 'there is no sandbox in the directory that --directory names', {
    hint: "Check --directory: 'svc sandbox start' creates it.",
  });
}

/** Starts a sandbox that ends with the command. @throws SvcError `usage` for malformed faults and webhook addresses */
export async function openServer(
  context: Context,
  location: Pick<SandboxOptions, 'directory' | 'port' | 'keepsRequests'>,
  input: ServerInput,
  faults: FaultChooser | undefined,
): Promise<RunningSandbox> {
  const { noAuditReads, fault: _fault, scenario: _scenario, outcome, ...options } = input;
  const { chosenFaults } = await import('../emulator/faults/intercept.ts');
  const intercept = faults && chosenFaults(faults);
  const outcomes = await outcomesFrom('--outcome', outcome);
  await requireUse(location.directory, input);
  const { isWebhookAddress } = await import('../emulator/webhooks/notifier.ts');
  if (!options.webhooks.every(isWebhookAddress))
    throw new SvcError('usage', '--webhook must be an http address on loopback', {
      hint: 'Give one such as http://127.0.0.1:8080/events.',
    });
  return startSandbox(context, { ...options, ...location, auditReads: !noAuditReads, intercept, outcomes });
}

/** Refuses options that no tenant or event would use. @throws SvcError `usage` */
async function requireUse(directory: string, input: ServerInput): Promise<void> {
  const { tenants = [], merchants, webhooks, webhookDuplicates } = input;
  if (webhookDuplicates && webhooks.length === 0)
    throw new SvcError('usage', '--webhook-duplicates needs --webhook', { hint: 'Name the address of the events.' });
  if (merchants.length === 0 || tenants.includes('production')) return;
  const { furtherTenants, startIn } = await import('../emulator/state/journal.ts');
  const isProduction = (place: string): boolean => startIn(place)?.tenantType === 'production';
  if ([directory, ...furtherTenants(directory)].some(isProduction)) return;
  throw new SvcError('usage', '--merchant-id needs a production tenant', {
    hint: 'Add --tenants production: a test tenant takes an empty merchant id or SANDBOX.',
  });
}

/** Reads the faults to be made, if there are any. @throws SvcError `usage` for malformed ones */
export async function faultsFrom(
  context: Context,
  { fault, scenario, seed }: Pick<ServerInput, 'fault' | 'scenario' | 'seed'>,
): Promise<FaultChooser | undefined> {
  if (fault.length === 0 && scenario === undefined) return undefined;
  const { FaultChooser: Chooser, readFault, readFaults } = await import('../emulator/faults/fault.ts');
  const faults = fault.map((given) => readTyped('--fault', 'faults', () => readFault(given)));
  if (scenario === undefined) return new Chooser(faults, seed);
  const content = readText(context, scenario);
  const read = readTyped('--scenario', 'faults', () => readFaults(content));
  return new Chooser([...faults, ...read.faults], seed ?? read.seed);
}

/** Checks outcomes of authentications. @throws SvcError `usage` for malformed outcomes */
export async function outcomesFrom(what: string, texts: readonly string[]): Promise<string[]> {
  if (texts.length === 0) return [];
  const { splitOutcomes } = await import('../emulator/three-ds/forced-outcome.ts');
  return readTyped(what, 'outcomes', () => splitOutcomes(texts.join('\n')));
}

function readText(context: Context, file: string): string {
  try {
    return readRegularFileSync(resolvePath(context, file));
  } catch (error) {
    throw new SvcError('usage', `the file of --scenario ${readProblem(error)}`, {
      hint: 'Check its name and its permissions.',
    });
  }
}
