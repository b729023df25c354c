import { SvcError } from '../../base/errors.ts';
import { isShowable } from '../../base/security/typed-word.ts';
import { exactMembers } from '../../base/json/exact.ts';
import { type Context, defineCommand, Preview } from '../../cli/app/command.ts';
import { readDataFile } from '../../cli/app/files/data-file.ts';
import {
  DOCUMENTS,
  assignmentsOf,
  flag,
  type Input,
  placeholder,
  reading,
  repeated,
  suggesting,
  type Suggestion,
  value,
} from '../../cli/app/parameter.ts';
import { option } from '../../cli/app/hint.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { describeTenant, factsOf } from '../../cli/app/tenant-mark.ts';
import { nameValue, text } from '../../cli/app/value-parsers.ts';
import type { Client } from '../../client/api/client.ts';
import type { Tenant, TenantBody } from '../../schema/tenant.ts';
import type { TenantChange } from '../change.ts';
import { showDifference, tenantView } from '../view.ts';

const parameters = {
  name: value('--name <name>', 'the new name, at most 200 characters', text),
  set: suggesting(
    settingsAndValues,
    repeated(
      '--set <setting=value>',
      'a setting: fingerprint_tokens, disable_ephemeral_proxy, deduplicate_tokens (true or false), token_deduplication_behavior (update_existing or read_existing)',
      nameValue,
    ),
  ),
  file: reading(
    value('--file <file|->', 'name and settings from a YAML or JSON file, or - for standard input', text),
    DOCUMENTS,
  ),
  allowUnknown: flag('--allow-unknown', 'allow settings that neither svc nor the tenant knows'),
  dryRun: flag('--dry-run', 'show the difference and send nothing'),
} as const;

/** Returns completions of `--set`: each setting alone, and with each of its values. */
async function settingsAndValues(): Promise<Suggestion[]> {
  const { wordsIn } = await import('../../cli/glossary/glossary.ts');
  const { default: words } = await import('../glossary.json', { with: { type: 'json' } });
  const booleans: readonly Suggestion[] = [
    ['true', ''],
    ['false', ''],
  ];
  const behaviors = wordsIn(words, 'token deduplication behavior');
  return wordsIn(words, 'tenant setting').flatMap(([name, meaning]) =>
    assignmentsOf(name, meaning, name === 'token_deduplication_behavior' ? behaviors : booleans),
  );
}

type ChangeInput = Input<typeof parameters>;

export const update = defineCommand({
  description:
    'Shows the difference, asks, then writes name and settings back as a whole, as the service requires. Settings that are not named are kept, even those that svc does not know.',
  details: 'The tenant is read again after the confirmation, and nothing is written if it changed.',
  examples: [
    ['svc tenant update --name Acme-QA', 'a new name'],
    ['svc tenant update --set deduplicate_tokens=true --dry-run', 'only show what would change'],
    ['svc tenant update --file tenant.yaml --yes', 'from a file as svc tenant export prints it, without asking'],
  ],
  permissions: ['tenant:read', 'tenant:update'],
  exitCodes: [[6, 'the tenant changed meanwhile; nothing was written'], 9, 12, 13],
  changes: true,
  fields: tenantView.fields,
  parameters,
  async run(context, input) {
    const print = await recordPrinter(context, tenantView);
    const change = await readChange(context, input);
    const { bodyOf, differences, mergeChange } = await import('../change.ts');
    const client = await context.client();
    const before = await client.tenant.read();
    const body = mergeChange(before, change, input.allowUnknown);
    const fields = differences(bodyOf(before), body);
    if (fields.length === 0) {
      context.notices.note('nothing to change: the tenant already is as requested');
      return print(before);
    }
    await showDifference(context, before, fields);
    checkCanConfirm(context, input);
    const { updateTenantRequest } = await import('../../client/api/resources.ts');
    if (input.dryRun) {
      if (context.globals.curl) return new Preview(updateTenantRequest(body));
      context.notices.note('dry run: nothing was sent');
      return print({ ...before, ...exactMembers(before), ...body });
    }
    await confirmUpdate(context, before, change);
    await requireUnchanged(client, before);
    const request = updateTenantRequest(body, ['tenant', 'show']);
    const after = await client.send({ ...request, beforeRepeat: () => requireUnchanged(client, before) });
    await print(after);
    const ignored = differences(body, bodyOf(after)).map((field) => field.path);
    reportResult(context, body, ignored);
  },
  async request(context, input) {
    await readChange(context, { ...input, dryRun: true });
    return (await import('../../client/api/resources.ts')).readTenantRequest();
  },
});

async function confirmUpdate({ globals, notices, prompts }: Context, tenant: Tenant, { settings }: TenantChange) {
  const { unknownSettings } = await import('../values.ts');
  const unknown = unknownSettings(settings.keys(), Object.keys(tenant.settings ?? {}));
  const what = unknown.length === 0 ? '' : ` with unknown settings (${unknown.join(', ')})`;
  if (globals.yes && unknown.length > 0) notices.warn(`updating the tenant${what}`);
  await prompts().confirm(`Update the ${describeTenant(factsOf(tenant))}${what}?`, 'nothing was changed');
}

/** Reads the tenant again, and stops if another client changed it since `before`. @throws SvcError `conflict` */
async function requireUnchanged(client: Client, before: Tenant): Promise<void> {
  const { differences } = await import('../change.ts');
  const fields = differences(before, await client.tenant.read()).map(({ path }) => path);
  if (fields.length === 0) return;
  throw new SvcError('conflict', `the tenant changed meanwhile: ${fields.join(', ')}; nothing was written`, {
    hint: 'Run the command again: it shows the difference from the present tenant.',
    facts: { fields },
  });
}

function reportResult({ notices }: Context, { name }: TenantBody, ignored: readonly string[]): void {
  if (ignored.length > 0)
    throw new SvcError(
      'checksum_mismatch',
      `the service accepted the update, but these fields differ in its response: ${ignored.join(', ')}`,
      { next: ['tenant', 'show'], facts: { fields: ignored } },
    );
  notices.success(`updated the tenant ${name}`);
}

/** Reads the change from file and flags. A flag overrides the file. Makes all checks that do not need the tenant. */
async function readChange(context: Context, input: ChangeInput): Promise<TenantChange> {
  const { name, set, file } = input;
  if (name === undefined && set.length === 0 && file === undefined) {
    throw new SvcError('usage', 'there is nothing to update', { hint: 'Give --name, --set or --file.' });
  }
  const { checkSettingValue, checkTenantName, unknownSettings } = await import('../values.ts');
  const { changeFromFile } = await import('../change-file.ts');
  if (name !== undefined) checkTenantName(name);
  for (const setting of set) checkSettingValue(setting.name, setting.value);
  const base = file === undefined ? undefined : changeFromFile(await readDataFile(context, file));
  // A setting that svc does not know may be misspelled. Only the tenant can tell, so `run` asks for --yes after reading it.
  const names = set.map((setting) => setting.name);
  if (unknownSettings(names, []).length === 0) checkCanConfirm(context, input);
  return {
    name: name ?? base?.name,
    settings: new Map([...(base?.settings ?? []), ...set.map((one) => [one.name, one.value] as const)]),
    expected: base?.expected ?? new Map(),
    lineOf: base?.lineOf,
    file: base?.file,
  };
}

/** Stops an update that the operator must confirm where no prompt is possible. @throws SvcError `input_needed` */
function checkCanConfirm({ globals, prompts }: Context, input: ChangeInput): void {
  const { file, dryRun } = input;
  if (globals.yes || dryRun || (file !== '-' && prompts().canAsk)) return;
  const why = file === '-' ? 'standard input contains the change' : 'cannot prompt';
  throw new SvcError('input_needed', `an update must be confirmed: ${why}`, {
    hint: 'Pass --yes, or see the difference only:',
    next: [...typedChange(input), '--dry-run'],
  });
}

/** Returns the update as typed, with a placeholder for a text that may be a secret. */
function typedChange({ name, set, file, allowUnknown }: ChangeInput): string[] {
  const { name: nameSyntax, set: setSyntax } = parameters;
  const isShown = name !== undefined && name.split(' ').every((word) => isShowable(word) || /^\d{1,5}$/.test(word));
  const settings = set.map((one) =>
    isShowable(one.value) ? `${one.name}=${one.value}` : placeholder(setSyntax.syntax),
  );
  return [
    'tenant',
    'update',
    ...option('--name', isShown ? name : name && placeholder(nameSyntax.syntax)),
    ...option('--set', settings),
    ...option('--file', file),
    ...(allowUnknown ? ['--allow-unknown'] : []),
  ];
}
