import type { Context } from '../../app/command.ts';
import { jsonLine } from '../../output/formats.ts';
import { cleanText } from '../../output/text.ts';
import { fieldPaths, type Palette, type Tone, type View } from '../../output/view.ts';
import type { Tenant } from '../../schema/tenant.ts';
import type { FieldDifference } from '../../tenant/change.ts';

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

/** A test tenant is harmless, all others are not: the color says so beside the word. */
function tenantTone(type: unknown): Tone {
  return type === 'test' ? 'good' : 'alarm';
}

/** The visible mark of the tenant's type, TEST or PRODUCTION, safe for a terminal. */
export function tenantMark(type: string, palette: Palette): string {
  return palette[tenantTone(type)](palette.strong(` ${cleanText(type).toUpperCase()} `));
}

/** Which tenant a question is about: `PRODUCTION tenant "Acme"`. */
export function describeTenant({ type, name }: Pick<Tenant, 'type' | 'name'>): string {
  return `${type.toUpperCase()} tenant ${jsonLine(name)}`;
}

/** Shows on stderr which tenant it is, and each field that would change: its old value after -, its new one after +. */
export function showDifference(
  { notices, noticePalette }: Context,
  tenant: Tenant,
  fields: readonly FieldDifference[],
): void {
  if (notices.shows('normal')) notices.report(differenceText(tenant, fields, noticePalette));
}

export function differenceText(tenant: Tenant, fields: readonly FieldDifference[], palette: Palette): string {
  return `${[headline(tenant, palette), ...fields.flatMap((field) => fieldLines(field, palette))].join('\n')}\n`;
}

/** The tenant's mark, name and id on one line, safe for a terminal. */
export function headline({ type, name, id }: Tenant, palette: Palette): string {
  return `${tenantMark(type, palette)} ${palette.strong(cleanText(name))} (${cleanText(id)})`;
}

function fieldLines({ path, before, after }: FieldDifference, palette: Palette): string[] {
  return [
    `  ${cleanText(path)}`,
    ...(before === undefined ? [] : [palette.bad(`  - ${jsonLine(before)}`)]),
    ...(after === undefined ? [] : [palette.good(`  + ${jsonLine(after)}`)]),
  ];
}
