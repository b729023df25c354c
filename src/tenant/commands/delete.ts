import { SvcError } from '../../base/errors.ts';
import { type Context, defineCommand, dryRunParameter, Preview, type Result } from '../../cli/app/command.ts';
import { flag, type Input, value } from '../../cli/app/parameter.ts';
import { describeTenant, factsOf } from '../../cli/app/tenant-mark.ts';
import { textToSend } from '../../cli/app/value-parsers.ts';
import { cleanText } from '../../cli/output/text.ts';
import type { Tenant } from '../../schema/tenant.ts';

const parameters = {
  confirm: value('--confirm <tenant id>', 'the id of the tenant, instead of typing its name', textToSend),
  dryRun: dryRunParameter,
  production: flag('--production', 'required for a production tenant'),
} as const;

const INSTEAD = 'Pass --confirm with the id of the tenant.';

const deleteTenant = defineCommand({
  description:
    'Only reads, until the name of the tenant is typed, or its id is given with --confirm. --yes is not enough. The request is sent once and never repeated.',
  examples: [
    ['svc tenant delete', 'asks for the name of the tenant'],
    ['svc tenant delete --confirm 4c0…', 'for a script: only this tenant'],
  ],
  permissions: ['tenant:read', 'tenant:delete'],
  exitCodes: [
    [9, "the outcome is unknown: 'svc tenant show' tells whether the tenant still exists (4: its key is gone)"],
    130,
  ],
  changes: true,
  parameters,
  async run(context, input): Promise<Result> {
    const isAsked = input.confirm === undefined && !input.dryRun;
    if (isAsked && !context.prompts().canAsk) {
      const yes = context.globals.yes ? '; --yes is not enough for this' : '';
      throw new SvcError('input_needed', `deleting a tenant must be confirmed: cannot prompt${yes}`, {
        hint: `${INSTEAD} To see which tenant it is:`,
        next: ['tenant', 'show'],
      });
    }
    const client = await context.client();
    const tenant = await client.tenant.read();
    checkIntent(tenant, input);
    await context.reportTenant(factsOf(tenant));
    if (isAsked) await askForName(context, tenant);
    if (input.dryRun) return new Preview((await import('../../client/api/resources.ts')).deleteTenantRequest());
    await client.tenant.delete(['tenant', 'show']);
    context.notices.success(`deleted the ${describeTenant(factsOf(tenant))} (${tenant.id})`);
  },
  request: async () => (await import('../../client/api/resources.ts')).readTenantRequest(),
});

export { deleteTenant as delete };

function checkIntent(tenant: Tenant, { confirm, production }: Input<typeof parameters>): void {
  if (confirm !== undefined && confirm !== tenant.id)
    throw new SvcError('usage', '--confirm names another tenant than the key belongs to; nothing was deleted', {
      hint: 'Check the profile: the key decides which tenant it is.',
    });
  // A tenant of unknown type may be a production tenant.
  if (!production && tenant.type !== 'test')
    throw new SvcError('usage', `this is a ${describeTenant(factsOf(tenant))}; nothing was deleted`, {
      hint: 'To delete it anyway, add --production.',
    });
}

async function askForName({ prompts }: Context, { name: sent }: Tenant): Promise<void> {
  const name = sent ?? '';
  if (cleanText(name).trim() === '')
    throw new SvcError('input_needed', 'the tenant has no name that can be typed', { hint: INSTEAD });
  const question = `All its data will be lost. To delete it, type its name (${name}):`;
  const typed = await prompts().promptText(question, INSTEAD);
  if (isSame(typed, name) || isSame(typed, cleanText(name))) return;
  throw new SvcError('usage', 'name does not match; nothing was deleted', {
    hint: 'Run the command again and type the name as shown.',
  });
}

function isSame(typed: string, name: string): boolean {
  return typed.trim().normalize('NFC') === name.trim().normalize('NFC');
}
