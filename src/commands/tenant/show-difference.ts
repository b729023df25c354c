import type { Context } from '../../cli/context.ts';
import { cleanText } from '../../render/clean.ts';
import { jsonLine } from '../../render/json.ts';
import type { Palette } from '../../render/view.ts';
import type { Tenant } from '../../schema/tenant.ts';
import type { FieldDifference } from '../../tenant/change.ts';
import { tenantMark } from '../../views/tenant.ts';

/** Which tenant a question is about: `PRODUCTION tenant "Acme"`. */
export function tenantWords({ type, name }: Pick<Tenant, 'type' | 'name'>): string {
  return `${type.toUpperCase()} tenant ${jsonLine(name)}`;
}

/** Shows on stderr which tenant it is, and each field that would change: its old value after -, its new one after +. */
export function showDifference(
  { notices, noticePalette }: Context,
  tenant: Tenant,
  fields: readonly FieldDifference[],
): void {
  if (!notices.shows('normal')) return;
  const lines = [
    headline(tenant, noticePalette),
    ...fields.flatMap((field) => fieldLines(field, noticePalette)),
  ];
  notices.report(`${lines.join('\n')}\n`);
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
