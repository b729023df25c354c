import { isForPeople, recordPrinter } from '../../cli/app/print.ts';
import { defineRequestCommand } from '../../cli/app/request-command.ts';
import { factsOf, tenantMark } from '../../cli/app/tenant-mark.ts';
import { tenantView } from '../view.ts';

export const show = defineRequestCommand({
  examples: [
    ['svc tenant show', 'which tenant the key belongs to'],
    ['svc tenant show -o json --fields id,type', 'for a script'],
  ],
  permissions: ['tenant:read'],
  fields: tenantView.fields,
  parameters: {},
  request: async () => (await import('../../client/api/resources.ts')).readTenantRequest(),
  async printer(context) {
    const print = await recordPrinter(context, tenantView);
    return async (tenant) => {
      if (isForPeople(context)) await context.out.write(`${tenantMark(factsOf(tenant).type, context.palette)}\n`);
      await print(tenant);
    };
  },
});
