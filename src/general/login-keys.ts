// Reads, prompts for and verifies the keys that svc login stores.

import { isSvcError, SvcError } from '../base/errors.ts';
import { checkKey, detailOf, isAboutKey, type KeyCheck, keyFailure, permissionNames } from '../cli/app/check-key.ts';
import type { Context } from '../cli/app/command.ts';
import { warnOf, withHint } from '../cli/app/hint.ts';
import { conflicting, flag, type Input, value } from '../cli/app/parameter.ts';
import { headline } from '../cli/app/tenant-mark.ts';
import { text } from '../cli/app/value-parsers.ts';
import type { Profile } from '../cli/config/config-format.ts';
import { commandName } from '../cli/config/command-name.ts';
import { checkKeyText, KEY_TYPES, storedAs } from '../cli/config/keys.ts';
import { tenantOfKeys } from '../cli/config/known-keys.ts';
import { baseUrlText } from '../cli/config/values.ts';
import { countText } from '../cli/output/number.ts';
import { readInput } from '../cli/app/files/text-file.ts';
import type { KeyType, TenantFacts } from '../schema/tenant.ts';

const TRIES = 3;

/** The service for which keys are stored. */
export interface LoginTarget {
  readonly baseUrl: URL;
  /** Whether to verify the keys at the service. */
  readonly check: boolean;
  /** The stored keys that new keys of the same tenant replace. */
  readonly replaced?: Profile['keys'];
}

export const KEY_PARAMETERS = {
  managementKeyStdin: conflicting(
    ['managementKeyCommand'],
    flag('--management-key-stdin', 'read the management key from standard input'),
  ),
  privateKeyStdin: conflicting(
    ['privateKeyCommand'],
    flag('--private-key-stdin', 'read the private key from standard input; with both, one key per line'),
  ),
  managementKeyCommand: value(
    '--management-key-command <command>',
    'store a shell command that prints the management key instead of the key',
    text,
  ),
  privateKeyCommand: value(
    '--private-key-command <command>',
    'store a shell command that prints the private key instead of the key',
    text,
  ),
  noCheck: flag('--no-check', 'store the keys without verifying them'),
} as const;

/** Reads keys from options: from standard input, one per line, or from commands, which do not run with `--no-check`. */
export async function givenKeys(context: Context, options: Input<typeof KEY_PARAMETERS>): Promise<GivenKey[]> {
  const commands = { management: options.managementKeyCommand, private: options.privateKeyCommand };
  const stdin = { management: options.managementKeyStdin, private: options.privateKeyStdin };
  const piped = await pipedKeys(
    context,
    KEY_TYPES.filter((kind) => stdin[kind]),
  );
  const printed: GivenKey[] = [];
  for (const kind of KEY_TYPES) {
    const command = commands[kind];
    if (command === undefined) continue;
    const value = options.noCheck ? '' : await fromCommand(context, command, kind);
    printed.push({ kind, command, value, from: commandName(command) });
  }
  return [...piped, ...printed];
}

/** Prompts for keys. @throws SvcError if no key was accepted: the last refusal, or `usage` */
export async function askForKeys(
  context: Context,
  kinds: readonly KeyType[],
  target: LoginTarget,
): Promise<VerifiedKey[]> {
  const keys = new Map<KeyType, VerifiedKey>();
  let refusal: SvcError | undefined;
  const ask = async (kind: KeyType): Promise<void> => {
    const typed = await promptForKey(context, kind);
    if (typed === '') return;
    const key = { kind, value: checkKeyText(typed, 'your answer'), from: 'your answer' };
    context.addSecret(key.value);
    try {
      keys.set(kind, await verifyKey(context, key, target));
    } catch (error) {
      if (isAboutKey(error)) refusal = error;
      throw error;
    }
  };
  for (const kind of kinds)
    await repeated(context, () => ask(kind)).catch((error: unknown) => {
      // A failure of this key does not keep an accepted one from being stored.
      if (keys.size === 0 || !isAboutAnswer(error)) throw error;
      warnOf(context, `skipping the ${kind} key`, error);
    });
  if (keys.size > 0) return kinds.flatMap((kind) => keys.get(kind) ?? []);
  throw (
    refusal ??
    new SvcError('usage', 'no key was given, so nothing was stored', {
      hint: 'Give at least one key, or use --sandbox, which needs none.',
    })
  );
}

async function promptForKey(context: Context, kind: KeyType): Promise<string> {
  const [name, use] = kind === 'management' ? ['Management', 'logs, tenant'] : ['Private', '3DS, Account Updater'];
  const isKept = storedAs(context.settings.stored?.keys?.[kind]) !== undefined;
  const question = `${name} key (${use}; Enter to ${isKept ? 'keep it' : 'skip'}):`;
  const typed = await context.prompts().promptHidden(question, `Pass --${kind}-key-stdin, or --${kind}-key-command.`);
  return typed.trim();
}

/** Prompts for a line of text until `read` accepts it, at most three times. */
export async function askForText<T>(context: Context, question: string, instead: string, read: (typed: string) => T) {
  return repeated(context, async () => read(await context.prompts().promptText(question, instead)));
}

/** Asks again after invalid input, such as a refused key, at most three times. */
async function repeated<T>({ notices }: Context, ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (isSvcError(error, 'interrupted')) throw new SvcError('interrupted', 'interrupted; nothing was stored');
      if (!isAboutAnswer(error) || tries >= TRIES) throw error;
      notices.warn(withHint(error));
    }
  }
}

/** Whether a failure concerns what was typed, and not the connection to the service or this machine. */
function isAboutAnswer(error: unknown): error is SvcError {
  return isSvcError(error, 'config', 'usage') || isAboutKey(error);
}

async function pipedKeys(context: Context, kinds: readonly KeyType[]): Promise<GivenKey[]> {
  if (kinds.length === 0) return [];
  const { stdin } = context.system;
  if (stdin.isTTY === true)
    throw new SvcError('input_needed', 'standard input is a terminal: a key typed there would be visible', {
      hint: 'Pipe the key in, or leave the option out: keys typed at the prompt are not echoed.',
    });
  const lines = (await readInput(stdin, 10_000, context.signal))
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  if (lines.length !== kinds.length) {
    throw new SvcError(
      'usage',
      `standard input ${lines.length === 0 ? 'is empty' : `has ${countText(lines.length, 'line')}`}: expected ${kinds.length === 1 ? 'one line with the key' : 'two lines, each with a key'}`,
    );
  }
  return kinds.map((kind, index) => {
    const key = checkKeyText((lines[index] ?? '').trim(), 'standard input');
    context.addSecret(key);
    return { kind, value: key, from: 'standard input' };
  });
}

async function fromCommand(context: Context, command: string, kind: KeyType): Promise<string> {
  const { env, cwd } = context.system;
  const { keyFromCommand } = await import('../cli/config/key-command.ts');
  const printed = await keyFromCommand(command, kind, {
    env,
    cwd,
    signal: context.signal,
    onLine: (line) => context.notices.note(line),
    onSecret: (secret) => context.addSecret(secret),
  });
  return checkKeyText(printed, 'the command');
}

/** A key that the operator gave, or the command that prints it. */
export interface GivenKey {
  readonly kind: KeyType;
  readonly value: string;
  readonly command?: string | undefined;
  /** Where the key came from, such as `standard input`. */
  readonly from: string;
}

/** A key with what the service returned for it. Both facts are missing with `--no-check`. */
export interface VerifiedKey extends GivenKey {
  readonly tenant?: TenantFacts | undefined;
  /** The tenant id that the service returned for the key, even if the key may not read the tenant. */
  readonly tenantId?: string | undefined;
}

/**
 * Verifies a key and prints the result.
 * @throws SvcError if the key is refused or of the other kind
 */
export async function verifyKey(
  context: Context,
  key: GivenKey,
  { baseUrl, check, replaced }: LoginTarget,
): Promise<VerifiedKey> {
  if (!check) return key;
  if (replaced?.[key.kind]?.value === key.value)
    throw new SvcError('usage', `the ${key.kind} key from ${key.from} is already stored`, {
      hint: 'Create a new key at the service first.',
    });
  context.progress.waiting(`verifying the ${key.kind} key`);
  const found = await checkKey(context, key.kind, { value: key.value, origin: key.from }, { baseUrl }).finally(() =>
    context.progress.end(),
  );
  const failure = keyFailure(found, key.from);
  if (failure && found.verdict === 'unclear') throw unreachable(context, failure, baseUrl);
  if (failure) throw notStored(failure, key.kind);
  if (replaced) refuseOtherTenant(context, found, baseUrl);
  reportCheck(context, found);
  return { ...key, tenant: found.tenant, tenantId: found.tenantId };
}

function reportCheck({ notices, noticePalette, noticeColumns }: Context, check: KeyCheck): void {
  const { kind, tenant, verdict } = check;
  if (tenant && notices.shows('normal')) notices.drawn(`${headline(tenant, noticePalette, noticeColumns())}\n`);
  if (verdict === 'powerless') {
    const details = new Set(check.tried.flatMap(({ error }) => detailOf(error) ?? []));
    const why = details.size === 0 ? '' : `: ${[...details].join('; ')}`;
    return notices.warn(`the ${kind} key is valid, but has no read permission (403)${why}`);
  }
  notices.success(`the ${kind} key is valid: ${permissionNames(check, 'allowed').join(', ')}`);
  const forbidden = permissionNames(check, 'forbidden', 'refused');
  if (forbidden.length > 0) notices.note(`  not allowed: ${forbidden.join(', ')}`);
  if (check.tenantId === undefined) notices.note('  its tenant is not known: no response named it');
  const unclear = permissionNames(check, 'unclear');
  if (unclear.length > 0) notices.warn(`could not check ${unclear.join(', ')}`);
}

/** Returns the tenant of the stored keys at their last check, because an old key may already be revoked. */
export function tenantBefore({ system, settings }: Context, baseUrl: URL): TenantFacts | undefined {
  const { profile, stored } = settings;
  return tenantOfKeys(system, { profile: profile.value, baseUrl: baseUrlText(baseUrl), keys: stored?.keys });
}

function refuseOtherTenant(context: Context, { kind, tenant, tenantId }: KeyCheck, baseUrl: URL): void {
  const before = tenantBefore(context, baseUrl);
  if (tenantId === undefined || before === undefined || tenantId === before.id) return;
  const name = tenant === undefined ? tenantId : JSON.stringify(tenant.name);
  const other = `not to ${JSON.stringify(before.name)} as the stored keys do`;
  throw new SvcError('usage', `the new ${kind} key belongs to tenant ${name}, ${other}; it was not stored`, {
    hint: 'Give a key of the same tenant, or store this one in another profile:',
    next: ['login', '--profile', '<name>'],
  });
}

function notStored(error: SvcError, kind: KeyType): SvcError {
  const isOther = error.facts?.['key_kind'] !== undefined;
  const hint = isOther
    ? error.hint
    : `It was not stored. Check that it is a complete and valid ${kind} key of this environment.`;
  return error.with({ hint, next: undefined });
}

function unreachable({ settings }: Context, error: SvcError, baseUrl: URL): SvcError {
  const url = baseUrlText(baseUrl);
  // A base URL typed at the prompt is not stored, so the next command needs it as an option.
  const service = settings.baseUrl === undefined ? ['--base-url', url] : [];
  return error.with({
    message: `the key could not be verified at ${url}: ${error.message}`,
    hint: `Nothing was stored; use --no-check to store it without verifying. ${error.hint ?? ''}`.trim(),
    next: error.next && [...error.next, ...service],
  });
}
