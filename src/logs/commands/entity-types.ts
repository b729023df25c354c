import type { Context } from '../../cli/app/command.ts';
import { listPrinter, oneBatch } from '../../cli/app/print.ts';
import { defineRequestCommand } from '../../cli/app/request-command.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import type { EntityType } from '../../schema/log.ts';

const entityTypeView: View<EntityType> = {
  name: 'entity type',
  fields: ['value', 'display_name'],
  columns: simpleColumns({ value: 'id', display_name: 'text' }),
};

export const entityTypes = defineRequestCommand({
  examples: [['svc logs entity-types', 'the entity types that logs are about']],
  permissions: ['log:read'],
  fields: entityTypeView.fields,
  parameters: {},
  request: async () => (await import('../../client/api/logs.ts')).entityTypesRequest(),
  async printer(context) {
    const print = await listPrinter(context, entityTypeView);
    return async (types) => {
      await print(oneBatch(types));
      await rememberForCompletion(context, types);
    };
  },
});

async function rememberForCompletion(context: Context, types: readonly EntityType[]) {
  const { rememberEntityTypes } = await import('../../cli/config/cache.ts');
  const service = context.settings.baseUrl?.value.origin ?? 'sandbox';
  const found = types.flatMap(({ value: type, display_name: name }) => (type ? [[type, name ?? ''] as const] : []));
  if (!rememberEntityTypes(context, service, found))
    context.notices.debug('the entity types could not be stored for completion');
}
