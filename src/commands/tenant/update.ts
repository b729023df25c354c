import type { Client } from '../../api/client.ts';
import { type Context, defineCommand, Preview } from '../../app/command.ts';
import { readJsonBody } from '../../app/json-body.ts';
import { flag, nameValue, type NameValue, repeated, text, value } from '../../app/parameter.ts';
import { recordPrinter } from '../../app/print.ts';
import { SvcError } from '../../errors.ts';
import type { Tenant } from '../../schema/tenant.ts';
import type { TenantBody, TenantChange } from '../../tenant/change.ts';
import { describeTenant, showDifference, tenantView } from './view.ts';

/** `svc tenant update` */
export const update = defineCommand({
  description:
    'The service replaces name and settings as a whole. So the tenant is read, the change merged in, the difference shown, and the whole written back; settings that are not named, also those unknown to this tool, are kept. When the tenant changes between the question and the writing, nothing is written.',
  examples: [
    ['svc tenant update --name Acme-QA', 'a new name'],
    ['svc tenant update --set deduplicate_tokens=true --dry-run', 'only show what would change'],
    ['svc tenant update --file tenant.json --yes', 'from a file, without being asked'],
  ],
  permissions: ['tenant:read', 'tenant:update'],
  exitCodes: [9, 12, 13],
  worksElsewhere: true,
  fields: tenantView.fields,
  parameters: {
    name: value('--name <name>', 'the new name, at most 200 characters', text),
    set: repeated(
      '--set <setting=value>',
      'a setting: fingerprint_tokens, disable_ephemeral_proxy, deduplicate_tokens (true or false), token_deduplication_behavior (update_existing or read_existing); may be repeated',
      nameValue,
    ),
    file: value('--file <json|->', 'name and settings from a JSON file, or - for standard input', text),
    allowUnknown: flag('--allow-unknown', 'allow settings that neither svc nor the tenant knows'),
    dryRun: flag('--dry-run', 'show the difference and send nothing'),
  },
  async run(context, input) {
    const print = await recordPrinter(context, tenantView);
    const change = await readChange(context, input);
    const { bodyOf, differences, merged } = await import('../../tenant/change.ts');
    const client = await context.client();
    const before = await client.tenant.read();
    const body = merged(before, change, input.allowUnknown);
    const fields = differences(bodyOf(before), body);
    if (fields.length === 0) {
      context.notices.note('nothing to change: the tenant is as asked for already');
      return print(before);
    }
    showDifference(context, before, fields);
    if (input.dryRun) {
      const { updateTenantRequest } = await import('../../api/resources.ts');
      if (context.globals.curl) return new Preview(updateTenantRequest(body));
      context.notices.note('dry run: nothing was sent');
      return print({ ...before, ...body });
    }
    if (!(await confirmUpdate(context, before, change))) return context.notices.note('nothing was changed');
    await refuseRace(client, before);
    const after = await client.tenant.update(body);
    await print(after);
    const ignored = differences(body, bodyOf(after)).map((field) => field.path);
    reportResult(context, body, ignored);
  },
  async request(context, input) {
    await readChange(context, { ...input, dryRun: true });
    return (await import('../../api/resources.ts')).readTenantRequest();
  },
});

async function confirmUpdate(
  { globals, notices, prompts }: Context,
  tenant: Tenant,
  { settings }: TenantChange,
): Promise<boolean> {
  const { unknownSettings } = await import('../../tenant/change.ts');
  const unknown = unknownSettings(settings.keys(), Object.keys(tenant.settings ?? {}));
  const what = unknown.length === 0 ? '' : ` with settings that are not known (${unknown.join(', ')})`;
  if (globals.yes && unknown.length > 0) notices.warn(`updating the tenant${what}`);
  return prompts.confirm(`Update the ${describeTenant(tenant)}${what}?`, 'Pass --yes.');
}

/** Reads the tenant once more, just before it is replaced: what somebody else wrote meanwhile must not be lost. */
async function refuseRace(client: Client, before: Tenant): Promise<void> {
  const [{ changedFields }, now] = await Promise.all([
    import('../../tenant/change.ts'),
    client.tenant.read(),
  ]);
  const changed = changedFields(before, now);
  if (changed.length === 0) return;
  throw new SvcError('conflict', `the tenant changed meanwhile: ${changed.join(', ')}; nothing was written`, {
    hint: 'Run the command again: it shows the difference from what is there now.',
    facts: { fields: changed },
  });
}

function reportResult({ notices }: Context, { name }: TenantBody, ignored: readonly string[]): void {
  if (ignored.length === 0) return notices.success(`updated the tenant ${name}`);
  throw new SvcError(
    'checksum_mismatch',
    `the service took the update, but its answer is not what was asked: ${ignored.join(', ')}`,
    {
      hint: "See what the tenant holds now with 'svc tenant show'.",
      facts: { fields: ignored },
    },
  );
}

/** Where a change of the tenant is given. */
export interface ChangeInput {
  readonly name: string | undefined;
  readonly set: readonly NameValue[];
  readonly file: string | undefined;
  readonly dryRun: boolean;
}

/** The change as given by file and flags, a flag above the file; checked as far as it can be without the tenant. */
async function readChange(context: Context, input: ChangeInput): Promise<TenantChange> {
  const { name, set, file } = input;
  if (name === undefined && set.length === 0 && file === undefined) {
    throw new SvcError('usage', 'there is nothing to update', { hint: 'Give --name, --set or --file.' });
  }
  checkCanConfirm(context, input);
  const { checkSettingValue } = await import('../../tenant/change.ts');
  if (name !== undefined) (await import('../../tenant/change-file.ts')).checkTenantName(name);
  for (const setting of set) checkSettingValue(setting.name, setting.value);
  const base = file === undefined ? NO_CHANGE : await changeFromFile(context, file);
  return {
    ...base,
    name: name ?? base.name,
    settings: new Map([...base.settings, ...set.map((one) => [one.name, one.value] as const)]),
  };
}

const NO_CHANGE: TenantChange = { name: undefined, settings: new Map(), expected: new Map() };

async function changeFromFile(context: Context, file: string): Promise<TenantChange> {
  const { changeFromJson } = await import('../../tenant/change-file.ts');
  return changeFromJson(await readJsonBody(context, file));
}

/** A question that nobody can answer is better refused before anything is read. */
function checkCanConfirm({ globals, prompts }: Context, { file, dryRun }: ChangeInput): void {
  if (globals.yes || dryRun || (file !== '-' && prompts.canAsk)) return;
  const why = file === '-' ? 'standard input holds the change' : 'nobody can be asked';
  throw new SvcError('input_needed', `an update is confirmed first, and ${why}`, {
    hint: 'Pass --yes, or --dry-run to see the difference only.',
  });
}
