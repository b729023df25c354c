import { defineCommand } from '../../cli/app/command.ts';
import { isForPeople, recordPrinter } from '../../cli/app/print.ts';
import { tenantMark } from '../../cli/app/tenant-mark.ts';
import { tenantView } from '../view.ts';

export const show = defineCommand({
  examples: [
    ['svc tenant show', 'which tenant the key belongs to'],
    ['svc tenant show -o json --fields id,type', 'for a script'],
  ],
  permissions: ['tenant:read'],
  fields: tenantView.fields,
  parameters: {},
  async run(context) {
    const print = await recordPrinter(context, tenantView);
    const client = await context.client();
    const tenant = await client.tenant.read();
    if (isForPeople(context)) await context.out.write(`${tenantMark(tenant.type, context.palette)}\n`);
    await print(tenant);
  },
  request: async () => (await import('../../client/api/resources.ts')).readTenantRequest(),
});
