// The view of a tenant, and of its changes.

import type { Context } from '../cli/app/command.ts';
import { factsOf, tenantTone } from '../cli/app/tenant-mark.ts';
import { jsonLine } from '../cli/output/formats.ts';
import { cleanText } from '../cli/output/text.ts';
import { fieldPaths, type Palette, type View } from '../cli/output/view.ts';
import type { Tenant } from '../schema/tenant.ts';
import type { FieldDifference } from './change.ts';

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

/** Shows on stderr the tenant and each field that would change: its old value after -, its new one after +. */
export async function showDifference(context: Context, tenant: Tenant, fields: readonly FieldDifference[]) {
  await context.reportTenant(factsOf(tenant));
  if (context.notices.shows('normal')) context.notices.drawn(fieldsText(fields, context.noticePalette, context.plain));
}

export function fieldsText(fields: readonly FieldDifference[], palette: Palette, plain: boolean): string {
  return fields.flatMap((field) => fieldLines(field, palette, plain).map((line) => `${line}\n`)).join('');
}

function fieldLines({ path, before, after }: FieldDifference, palette: Palette, plain: boolean): string[] {
  if (plain) return [`${cleanText(path)}: from ${valueText(before)} to ${valueText(after)}`];
  return [
    `  ${cleanText(path)}`,
    ...(before === undefined ? [] : [palette.bad(`  - ${jsonLine(before)}`)]),
    ...(after === undefined ? [] : [palette.good(`  + ${jsonLine(after)}`)]),
  ];
}

function valueText(value: unknown): string {
  return value === undefined ? 'nothing' : jsonLine(value);
}
