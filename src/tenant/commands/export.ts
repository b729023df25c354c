import { exactMembers } from '../../base/json/exact.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { defineRequestCommand } from '../../cli/app/request-command.ts';
import type { View } from '../../cli/output/view.ts';
import { tenantView } from '../view.ts';

/** The exported members of a tenant: its identity, and everything that can be changed. */
const exportView: View = {
  name: 'tenant',
  fields: ['id', 'type', ...tenantView.fields.filter((field) => /^(?:name|settings)/.test(field))],
  columns: [],
};

const exportTenant = defineRequestCommand({
  description:
    "Prints YAML in a pipe too, unless -o names another format. 'svc tenant diff' compares the file with the tenant, and 'svc tenant update --file' applies it; neither accepts the file of another tenant.",
  examples: [
    ['svc tenant export > tenant.yaml', 'to keep under version control'],
    ['svc tenant export -o json', 'as JSON'],
  ],
  permissions: ['tenant:read'],
  onlyPrints: true,
  fields: exportView.fields,
  parameters: {},
  request: async () => (await import('../../client/api/resources.ts')).readTenantRequest(),
  async printer(context) {
    const print = await recordPrinter(context, exportView, 'yaml');
    const [{ bodyOf }, { membersForFile }] = await Promise.all([import('../change.ts'), import('../change-file.ts')]);
    return async (tenant) => {
      const { members, leftOut } = membersForFile(bodyOf(tenant));
      await print({ id: tenant.id, type: exactMembers(tenant)['type'], ...members });
      if (leftOut.length > 0)
        context.notices.warn(`left out, since svc cannot compare or update such a value: ${leftOut.join(', ')}`);
    };
  },
});

export { exportTenant as export };
