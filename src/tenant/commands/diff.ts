import { SvcError } from '../../base/errors.ts';
import { sentences } from '../../base/security/typed-word.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { readDataFile } from '../../cli/app/files/data-file.ts';
import { DOCUMENTS, argument, reading } from '../../cli/app/parameter.ts';
import { isDrawn, listPrinter, oneBatch } from '../../cli/app/print.ts';
import { factsOf, headline } from '../../cli/app/tenant-mark.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import type { Tenant } from '../../schema/tenant.ts';
import type { FieldDifference } from '../change.ts';
import { fieldsText } from '../view.ts';

/** A field with the tenant's value, absent for a field that only the file has, and the file's value. */
const differenceView: View = {
  name: 'difference',
  fields: ['field', 'tenant', 'file'],
  columns: simpleColumns({ field: 'text', tenant: 'text', file: 'text' }),
};

export const diff = defineCommand({
  description:
    'Compares only what the file names. "-" is the tenant\'s value, "+" the file\'s, which \'svc tenant update --file\' would set.',
  examples: [
    ['svc tenant diff tenant.yaml', 'against a file that svc tenant export wrote'],
    ['svc tenant diff tenant.yaml --quiet', 'for cron and CI: exit code 10 when the tenant differs'],
  ],
  permissions: ['tenant:read'],
  exitCodes: [[3, 'the file belongs to another tenant'], [10, 'the tenant differs from the file'], 13],
  fields: differenceView.fields,
  parameters: { file: reading(argument('<file|->', 'a YAML or JSON file, or - for standard input', text), DOCUMENTS) },
  async run(context, { file }) {
    const forPeople = isDrawn(context);
    const print = forPeople ? undefined : await listPrinter(context, differenceView);
    const [{ changeFromFile }, { differencesFromFile, readOnlyDifferences, unknownSettingIn }, data] =
      await Promise.all([import('../change-file.ts'), import('../change.ts'), readDataFile(context, file)]);
    const change = changeFromFile(data);
    const client = await context.client();
    const tenant = await client.tenant.read();
    const differences = differencesFromFile(tenant, change);
    await print?.(
      oneBatch(differences.map(({ path, before, after }) => ({ field: path, tenant: before, file: after }))),
    );
    if (differences.length === 0) return context.notices.success(`the tenant is as ${data.name} says`);
    if (forPeople) await context.out.write(differenceText(tenant, differences, context));
    const fields = differences.map(({ path }) => path);
    const unknown = unknownSettingIn(change, tenant);
    const update = ['tenant', 'update', '--file', file === '-' ? '<file>' : file];
    const allowed = unknown === undefined ? update : [...update, '--allow-unknown', '--dry-run'];
    const fixed = readOnlyDifferences(tenant, change).map(({ path }) => path);
    const changeBack =
      fixed.length === 0
        ? 'To change it back, update it from the file.'
        : `No update can change it back while the file has ${fixed.join(', ')}.`;
    throw new SvcError('threshold', `the tenant is not as ${data.name} says: ${fields.join(', ')}`, {
      hint: sentences(unknown, 'To accept the tenant as it is, export it again.', changeBack),
      next: fixed.length === 0 ? allowed : ['tenant', 'export'],
      facts: { fields },
    });
  },
  request: async () => (await import('../../client/api/resources.ts')).readTenantRequest(),
});

function differenceText(tenant: Tenant, fields: readonly FieldDifference[], { columns, palette, plain }: Context) {
  return `${headline(factsOf(tenant), palette, columns())}\n${fieldsText(fields, palette, plain)}`;
}
