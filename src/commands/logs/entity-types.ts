import { defineCommand } from '../../cli/command.ts';
import { listPrinter, once } from '../../cli/print.ts';
import { entityTypeView } from '../../views/log.ts';

/** `svc logs entity-types` */
export const entityTypes = defineCommand({
  name: 'entity-types',
  summary: 'the values that --entity-type takes',
  examples: [['svc logs entity-types', 'the kinds of entity that logs are about']],
  permissions: ['log:read'],
  parameters: {},
  async run(context) {
    const print = await listPrinter(context, entityTypeView);
    const client = await context.client();
    await print(once(await client.logs.entityTypes()));
  },
});
