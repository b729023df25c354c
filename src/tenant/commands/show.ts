import { SvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { readDataFile } from '../../cli/app/data-file.ts';
import { argument, text } from '../../cli/app/parameter.ts';
import { isDrawn, isForPeople, listPrinter, once, recordPrinter } from '../../cli/app/print.ts';
import { headline, tenantMark, tenantTone } from '../../cli/app/tenant-mark.ts';
import { jsonLine } from '../../cli/output/formats.ts';
import { cleanText } from '../../cli/output/text.ts';
import { fieldPaths, type Palette, simpleColumns, type View } from '../../cli/output/view.ts';
import type { Tenant } from '../../schema/tenant.ts';
import type { FieldDifference } from '../change.ts';

export const tenantView: View<Tenant> = {
  name: 'tenant',
  fields: fieldPaths(`
    id owner_id type name settings.fingerprint_tokens settings.disable_ephemeral_proxy
    settings.deduplicate_tokens settings.token_deduplication_behavior settings.* created_by
    created_at modified_by modified_at
  `),
  columns: [
    { path: 'name', kind: 'text' },
    { path: 'type', kind: 'text', paint: (value) => tenantTone(value) },
    { path: 'id', kind: 'id' },
  ],
};

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

/** What a file keeps of a tenant: which one it is, and all of it that can be changed. */
const exportView: View = {
  name: 'tenant',
  fields: ['id', 'type', ...tenantView.fields.filter((field) => /^(?:name|settings)/.test(field))],
  columns: [],
};

const exportTenant = defineCommand({
  description:
    "YAML also in a pipe, unless another format is asked for with -o. 'svc tenant diff' compares the file with the tenant, and 'svc tenant update --file' applies it; neither accepts the file of another tenant.",
  examples: [
    ['svc tenant export > tenant.yaml', 'to keep under version control'],
    ['svc tenant export -o json', 'as JSON'],
  ],
  permissions: ['tenant:read'],
  fields: exportView.fields,
  parameters: {},
  async run(context) {
    const print = await recordPrinter(context, exportView, 'yaml');
    const client = await context.client();
    const tenant = await client.tenant.read();
    const { bodyOf } = await import('../change.ts');
    await print({ id: tenant.id, type: tenant.type, ...bodyOf(tenant) });
  },
  request: async () => (await import('../../client/api/resources.ts')).readTenantRequest(),
});

export { exportTenant as export };

/** A field as the service has it, absent where only the file has it, and as the file has it. */
const driftView: View = {
  name: 'difference',
  fields: ['field', 'tenant', 'file'],
  columns: simpleColumns({ field: 'text', tenant: 'text', file: 'text' }),
};

export const diff = defineCommand({
  description:
    "Only what the file names is compared. The value of the tenant stands after -, that of the file after +, as 'svc tenant update --file' would change it. The file of another tenant ends with exit code 3.",
  examples: [
    ['svc tenant diff tenant.yaml', "against a file that 'svc tenant export' wrote"],
    ['svc tenant diff tenant.yaml --quiet', 'for cron and CI: exit code 10 when the tenant differs'],
  ],
  permissions: ['tenant:read'],
  exitCodes: [10, 13],
  fields: driftView.fields,
  parameters: { file: argument('<file|->', 'a YAML or JSON file, or - for standard input', text) },
  async run(context, { file }) {
    const forPeople = isDrawn(context);
    const print = forPeople ? undefined : await listPrinter(context, driftView);
    const [{ changeFromFile, drift }, data] = await Promise.all([import('../change.ts'), readDataFile(context, file)]);
    const change = changeFromFile(data);
    const client = await context.client();
    const tenant = await client.tenant.read();
    const found = drift(tenant, change);
    await print?.(once(found.map(({ path, before, after }) => ({ field: path, tenant: before, file: after }))));
    if (found.length === 0) return context.notices.success(`the tenant is as ${data.name} says`);
    if (forPeople) await context.out.write(differenceText(tenant, found, context));
    const fields = found.map(({ path }) => path);
    throw new SvcError('threshold', `the tenant is not as ${data.name} says: ${fields.join(', ')}`, {
      hint: 'To accept the tenant as it is, export it again. To change it back, update it from the file.',
      next: ['tenant', 'update', '--file', file === '-' ? '<file>' : file],
      facts: { fields },
    });
  },
  request: async () => (await import('../../client/api/resources.ts')).readTenantRequest(),
});

/** Shows on stderr which tenant it is, and each field that would change: its old value after -, its new one after +. */
export async function showDifference(context: Context, tenant: Tenant, fields: readonly FieldDifference[]) {
  await context.reportTenant(tenant);
  if (context.notices.shows('normal')) context.notices.report(fieldsText(fields, context.noticePalette, context.plain));
}

function differenceText(tenant: Tenant, fields: readonly FieldDifference[], { palette, plain }: Context) {
  return `${headline(tenant, palette)}\n${fieldsText(fields, palette, plain)}`;
}

function fieldsText(fields: readonly FieldDifference[], palette: Palette, plain: boolean): string {
  return fields.flatMap((field) => fieldLines(field, palette, plain).map((line) => `${line}\n`)).join('');
}

function fieldLines({ path, before, after }: FieldDifference, palette: Palette, plain: boolean): string[] {
  const [was, is] = [before, after].map((value) => (value === undefined ? 'nothing' : jsonLine(value)));
  if (plain) return [`${cleanText(path)}: from ${was} to ${is}`];
  return [
    `  ${cleanText(path)}`,
    ...(before === undefined ? [] : [palette.bad(`  - ${jsonLine(before)}`)]),
    ...(after === undefined ? [] : [palette.good(`  + ${jsonLine(after)}`)]),
  ];
}
