import type { Client } from '../../api/client.ts';
import { defineCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { nameValue } from '../../cli/name-value.ts';
import { Preview } from '../../cli/preview.ts';
import { flag, repeated, value } from '../../cli/parameter.ts';
import { recordPrinter } from '../../cli/print.ts';
import { text } from '../../cli/values.ts';
import { SvcError } from '../../errors.ts';
import type { Tenant } from '../../schema/tenant.ts';
import type { TenantBody, TenantChange } from '../../tenant/change.ts';
import { tenantView } from '../../views/tenant.ts';
import { readChange } from './read-change.ts';
import { showDifference, tenantWords } from './show-difference.ts';

/** `svc tenant update` */
export const update = defineCommand({
  name: 'update',
  summary: 'change the name or settings; shows the difference and asks first',
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
      const { updateTenantRequest } = await import('../../api/tenant.ts');
      if (context.globals.curl) return new Preview(updateTenantRequest(body));
      context.notices.note('dry run: nothing was sent');
      return print({ ...before, ...body });
    }
    if (!(await confirmUpdate(context, before, change))) return context.notices.note('nothing was changed');
    await refuseRace(client, before);
    const after = await client.tenant.update(body);
    await print(after);
    const ignored = differences(body, bodyOf(after)).map((field) => field.path);
    tellResult(context, body, ignored);
  },
  async request(context, input) {
    await readChange(context, { ...input, dryRun: true });
    return (await import('../../api/tenant.ts')).readTenantRequest();
  },
});

async function confirmUpdate(
  { globals, notices, prompts }: Context,
  tenant: Tenant,
  { settings }: TenantChange,
): Promise<boolean> {
  const { unknownSettings } = await import('../../tenant/settings.ts');
  const unknown = unknownSettings(settings.keys(), Object.keys(tenant.settings ?? {}));
  const what = unknown.length === 0 ? '' : ` with settings that are not known (${unknown.join(', ')})`;
  if (globals.yes && unknown.length > 0) notices.warn(`updating the tenant${what}`);
  return prompts.confirm(`Update the ${tenantWords(tenant)}${what}?`, 'Pass --yes.');
}

/** Reads the tenant once more, just before it is replaced: what somebody else wrote meanwhile must not be lost. */
async function refuseRace(client: Client, before: Tenant): Promise<void> {
  const [{ changedFields }, now] = await Promise.all([
    import('../../tenant/changed.ts'),
    client.tenant.read(),
  ]);
  const changed = changedFields(before, now);
  if (changed.length === 0) return;
  throw new SvcError('changed', `the tenant changed meanwhile: ${changed.join(', ')}; nothing was written`, {
    hint: 'Run the command again: it shows the difference from what is there now.',
    facts: { fields: changed },
  });
}

function tellResult({ notices }: Context, { name }: TenantBody, ignored: readonly string[]): void {
  if (ignored.length === 0) return notices.note(`updated the tenant ${name}`);
  throw new SvcError(
    'altered',
    `the service took the update, but its answer is not what was asked: ${ignored.join(', ')}`,
    {
      hint: "See what the tenant holds now with 'svc tenant show'.",
      facts: { fields: ignored },
    },
  );
}
