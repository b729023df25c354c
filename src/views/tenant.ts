import { cleanText } from '../render/clean.ts';
import type { Palette, Tone, View } from '../render/view.ts';
import type { Tenant } from '../schema/tenant.ts';

/** How the tenant is shown. */
export const tenantView: View<Tenant> = {
  name: 'tenant',
  fields: [
    'id',
    'owner_id',
    'type',
    'name',
    'settings.fingerprint_tokens',
    'settings.disable_ephemeral_proxy',
    'settings.deduplicate_tokens',
    'settings.token_deduplication_behavior',
    'settings.*',
    'created_by',
    'created_at',
    'modified_by',
    'modified_at',
  ],
  columns: [
    { path: 'name', kind: 'text' },
    { path: 'type', kind: 'status', paint: (value) => tenantTone(value) },
    { path: 'id', kind: 'id' },
  ],
};

/** A test tenant is harmless, a production one is not: the colour says so beside the word. */
function tenantTone(type: unknown): Tone {
  return type === 'test' ? 'good' : 'bad';
}

/** The visible mark of the tenant's type, TEST or PRODUCTION, safe for a terminal. */
export function tenantMark(type: string, palette: Palette): string {
  return palette[tenantTone(type)](palette.strong(` ${cleanText(type).toUpperCase()} `));
}
