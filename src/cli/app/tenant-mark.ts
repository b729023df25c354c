import { SvcError } from '../../base/errors.ts';
import type { Tenant, TenantFacts } from '../../schema/tenant.ts';
import { hasSandboxKeys, KEY_TYPES, keyOrigin, type KeySettings } from '../config/keys.ts';
import { knownTenant, tenantOfKeys } from '../config/known-keys.ts';
import type { PathsHost } from '../config/paths.ts';
import type { Settings } from '../config/settings.ts';
import { baseUrlText } from '../config/values.ts';
import { jsonLine } from '../output/formats.ts';
import type { Prompts } from '../output/prompt.ts';
import { cleanText, hangingIndent } from '../output/text.ts';
import { type Palette, plainPalette, type Tone } from '../output/view.ts';
import type { Context } from './command.ts';
import { serviceOf } from './service.ts';

/** Returns the color that accompanies a tenant's type. Only a test tenant is marked as harmless. */
export function tenantTone(type: unknown): Tone {
  return type === 'test' ? 'good' : 'alarm';
}

/** Returns what messages say of a tenant, also where the service sends no readable name or type. */
export function factsOf({ id, name, type }: Pick<Tenant, 'id' | 'name' | 'type'>): TenantFacts {
  return { id, name: name ?? '(no readable name)', type: type ?? 'unknown' };
}

/** The spaces on both sides of the mark of a type. */
const MARGINS = 2;

/** Returns the mark of the tenant's type, such as TEST or PRODUCTION, safe for a terminal. */
export function tenantMark(type: string, palette: Palette): string {
  const word = cleanText(type).toUpperCase();
  // The spaces widen the colored background.
  return palette === plainPalette ? word : palette[tenantTone(type)](palette.strong(` ${word} `));
}

/** Returns the tenant's mark, name and id, safe for a terminal: on one line, or if that is too narrow, on two. */
export function headline({ type, name, id }: TenantFacts, palette: Palette, columns = Infinity): string {
  const words = [cleanText(type), cleanText(name), `(${cleanText(id)})`];
  const isTooWide = words.join(' ').length + MARGINS > columns;
  return `${tenantMark(type, palette)} ${palette.strong(cleanText(name))}${isTooWide ? '\n' : ' '}(${cleanText(id)})`;
}

/** Names a tenant by its id, with type and name if the profile was last known to be of it: `TEST Acme (5f0c…)`. */
export function tenantText(context: Pick<Context, 'system' | 'settings'>, id: string): string {
  const known = knownTenant(context.system, context.settings.profile.value, serviceOf(context));
  return known?.id === id ? `${known.type.toUpperCase()} ${known.name} (${id})` : id;
}

/** Names the tenant in a question: `PRODUCTION tenant "Acme"`. */
export function describeTenant({ type, name }: Pick<TenantFacts, 'type' | 'name'>): string {
  return `${type.toUpperCase()} tenant ${jsonLine(name)}`;
}

interface Settled {
  readonly system: PathsHost;
  readonly settings: KeySettings & Pick<Settings, 'baseUrl'>;
}

/** Returns the tenant of the keys in use, if it is known without a request. */
export function tenantInUse({ system, settings }: Settled): TenantFacts | undefined {
  const { sandbox, baseUrl, profile, stored } = settings;
  if (sandbox || baseUrl === undefined || hasEnvironmentKey({ system, settings })) return undefined;
  return tenantOfKeys(system, { profile: profile.value, baseUrl: baseUrlText(baseUrl.value), keys: stored?.keys });
}

/** Tells whether a key comes from the environment. Such a key may belong to any tenant, whatever the profile says. */
export function hasEnvironmentKey({ system, settings }: Settled): boolean {
  return KEY_TYPES.some((type) => keyOrigin(system, settings, type)?.kind === 'environment');
}

/** Tells whether a change cannot do harm, because it goes to a sandbox or a known test tenant. */
function isHarmless({ system, settings }: Settled): boolean {
  const tenant = tenantInUse({ system, settings });
  return tenant ? tenant.type === 'test' : settings.sandbox || hasSandboxKeys(system, settings);
}

/** Writes the tenant that a command is about to change to stderr. Skips harmless tenants and marks unknown ones. */
export function reportTenant(
  context: Settled & Pick<Context, 'notices' | 'noticePalette' | 'noticeColumns'>,
  read?: TenantFacts,
): void {
  const { settings, notices, noticePalette, noticeColumns } = context;
  if (!notices.shows('normal') || (read === undefined && isHarmless(context))) return;
  const tenant = read ?? tenantInUse(context);
  const { profile, baseUrl } = settings;
  if (tenant) return notices.drawn(`${headline(tenant, noticePalette, noticeColumns())}\n`);
  const where = `profile ${cleanText(profile.value)}, ${baseUrl === undefined ? '' : baseUrlText(baseUrl.value)}`;
  const mark = 'unknown tenant';
  const lead = `${tenantMark(mark, noticePalette)} `;
  notices.drawn(`${hangingIndent(lead, mark.length + MARGINS + 1, where, noticeColumns())}\n`);
}

/**
 * Checks before billable work that the private key belongs to the tenant that svc knows for the profile. That is the tenant
 * of its management key, and decides whether the operator is asked. `unchanged` is what a refusal leaves.
 * @throws SvcError `config`
 */
export function requireKnownTenant(context: Settled, tenant: string | null | undefined, unchanged: string): void {
  const known = tenantInUse(context);
  if (!tenant || known === undefined || known.id === tenant) return;
  const profile = context.settings.profile.value;
  const whose = `${describeTenant(known)} (${known.id})`;
  throw new SvcError(
    'config',
    `the private key belongs to tenant ${tenant}, and svc knows profile ${profile} for the ${whose}: ${unchanged}`,
    {
      hint: 'Store the private key in another profile, and use that one. If both keys belong to one tenant, verify them.',
      next: ['login', '--profile', '<name>'],
      alternatives: [['whoami']],
      facts: { tenant_id: tenant, known_tenant_id: known.id },
    },
  );
}

interface Asking extends Settled, Pick<Context, 'reportTenant'> {
  readonly prompts: () => Pick<Prompts, 'confirmIfPossible'>;
}

/**
 * Asks before billable work, if a question is possible. `what` is, for example, `submit 6 rows`, and `unchanged` what a no
 * leaves. A harmless tenant is asked about only where the operator may not expect what is done.
 * @throws SvcError `declined`
 */
export async function confirmCost(
  context: Asking,
  what: string,
  { unchanged, isUnexpected = false }: { readonly unchanged: string; readonly isUnexpected?: boolean },
): Promise<void> {
  const isFree = isHarmless(context);
  if (isFree && !isUnexpected) return;
  await context.reportTenant();
  const tenant = tenantInUse(context);
  const who = tenant ? describeTenant(tenant) : isFree ? 'sandbox' : 'UNKNOWN TENANT';
  await context.prompts().confirmIfPossible(`${who}: ${what}?${isFree ? '' : ' This may be billed.'}`, unchanged);
}
