import { defineCommand } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { listPrinter, once } from '../../cli/print.ts';
import type { EntityType } from '../../schema/entity-type.ts';
import { entityTypeView } from '../../views/log.ts';

/** `svc logs entity-types` */
export const entityTypes = defineCommand({
  name: 'entity-types',
  summary: 'the values that --entity-type takes',
  examples: [['svc logs entity-types', 'the kinds of entity that logs are about']],
  permissions: ['log:read'],
  fields: entityTypeView.fields,
  parameters: {},
  async run(context) {
    const print = await listPrinter(context, entityTypeView);
    const client = await context.client();
    const types = await client.logs.entityTypes();
    await print(once(types));
    await remember(context, types);
  },
  async request() {
    return (await import('../../api/logs.ts')).entityTypesRequest();
  },
});

// For completion, which asks no network.
async function remember({ system, settings, notices }: Context, types: readonly EntityType[]): Promise<void> {
  const { rememberEntityTypes } = await import('../../completion/remember-entity-types.ts');
  const service = settings.baseUrl?.value.origin ?? 'sandbox';
  const found = types.map((type) => [type.value, type.display_name ?? ''] as const);
  if (!rememberEntityTypes(system, service, found))
    notices.verbose('entity types were not kept for completion');
}
