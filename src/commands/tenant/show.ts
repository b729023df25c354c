import { defineCommand } from '../../cli/command.ts';
import { isForPeople, recordPrinter } from '../../cli/print.ts';
import { tenantTone, tenantView } from '../../views/tenant.ts';

/** `svc tenant show` */
export const show = defineCommand({
  name: 'show',
  summary: 'the tenant, with a visible TEST or PRODUCTION mark',
  examples: [
    ['svc tenant show', 'which tenant the key belongs to'],
    ['svc tenant show -o json --fields id,type', 'for a script'],
  ],
  permissions: ['tenant:read'],
  parameters: {},
  async run(context) {
    const print = await recordPrinter(context, tenantView);
    const client = await context.client();
    const tenant = await client.tenant.read();
    if (isForPeople(context)) {
      const { palette } = context;
      await context.out.write(
        `${palette[tenantTone(tenant.type)](palette.strong(` ${tenant.type.toUpperCase()} `))}\n`,
      );
    }
    await print(tenant);
  },
});
