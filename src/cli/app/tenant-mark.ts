// Shows operators which tenant a command works on, and asks before billable work.

import { SvcError } from '../../base/errors.ts';
import type { Tenant, TenantFacts } from '../../schema/tenant.ts';
import { hasSandboxKeys, KEY_TYPES, keyOrigin, type KeySettings } from '../config/keys.ts';
import { knownTenant, tenantOfKeys } from '../config/known-keys.ts';
import type { PathsHost } from '../config/paths.ts';
import type { Settings } from '../config/settings.ts';
import { baseUrlText } from '../config/values.ts';
import { jsonLine } from '../output/formats.ts';
import type { Prompts } from '../output/prompt.ts';
import { cleanText } from '../output/text.ts';
import { hangingIndent } from '../output/wrap.ts';
import { type Palette, plainPalette, type Tone } from '../output/view.ts';
import type { Context } from './command.ts';
import { serviceOf } from './service.ts';

/** Returns the color that accompanies a tenant's type. Only a test tenant is marked as harmless. */
export function tenantTone(type: unknown): Tone {
  return type === 'test' ? 'good' : 'alarm';
}

/** Returns the facts of a tenant for messages, with replacements for a name or type that the service did not send. */
export function factsOf({ id, name, type }: Pick<Tenant, 'id' | 'name' | 'type'>): TenantFacts {
  return { id, name: name ?? '(no readable name)', type: type ?? 'unknown' };
}

/** The width of the spaces on both sides of a tenant's mark. */
const MARGINS = 2;

/** Returns the mark of the tenant's type, such as TEST or PRODUCTION, safe for a terminal. */
export function tenantMark(type: string, palette: Palette): string {
  const word = cleanText(type).toUpperCase();
  // The spaces are part of the colored background.
  return palette === plainPalette ? word : palette[tenantTone(type)](palette.strong(` ${word} `));
}

/** Returns the tenant's mark, name and id, safe for a terminal: on one line, or on two in a narrow terminal. */
export function headline({ type, name, id }: TenantFacts, palette: Palette, columns = Infinity): string {
  const words = [cleanText(type), cleanText(name), `(${cleanText(id)})`];
  const isTooWide = words.join(' ').length + MARGINS > columns;
  return `${tenantMark(type, palette)} ${palette.strong(cleanText(name))}${isTooWide ? '\n' : ' '}(${cleanText(id)})`;
}

/** Names a tenant by its id, with type and name if it is the profile's known tenant: `TEST Acme (5f0c…)`. */
export function tenantText(context: Pick<Context, 'system' | 'settings'>, id: string): string {
  const known = knownTenant(context.system, context.settings.profile.value, serviceOf(context));
  return known?.id === id ? `${known.type.toUpperCase()} ${known.name} (${id})` : id;
}

/** Names the tenant in a question: `PRODUCTION tenant "Acme"`. */
export function describeTenant({ type, name }: Pick<TenantFacts, 'type' | 'name'>): string {
  return `${type.toUpperCase()} tenant ${jsonLine(name)}`;
}

interface TenantSettings {
  readonly system: PathsHost;
  readonly settings: KeySettings & Pick<Settings, 'baseUrl'>;
}

/** Returns the tenant of the keys in use, if svc remembers it from an earlier response. */
export function tenantInUse({ system, settings }: TenantSettings): TenantFacts | undefined {
  const { sandbox, baseUrl, profile, stored } = settings;
  if (sandbox || baseUrl === undefined || hasEnvironmentKey({ system, settings })) return undefined;
  return tenantOfKeys(system, { profile: profile.value, baseUrl: baseUrlText(baseUrl.value), keys: stored?.keys });
}

/** Tells whether a key comes from the environment. Such a key may belong to any tenant, whatever the profile says. */
export function hasEnvironmentKey({ system, settings }: TenantSettings): boolean {
  return KEY_TYPES.some((type) => keyOrigin(system, settings, type)?.kind === 'environment');
}

/** Tells whether changes go to a sandbox or a known test tenant, where they do no harm. */
function isHarmless({ system, settings }: TenantSettings): boolean {
  const tenant = tenantInUse({ system, settings });
  return tenant ? tenant.type === 'test' : settings.sandbox || hasSandboxKeys(system, settings);
}

/** Names the tenant that a command is about to change on stderr. Says nothing of a sandbox or a known test tenant. */
export function reportTenant(
  context: TenantSettings & Pick<Context, 'notices' | 'noticePalette' | 'noticeColumns'>,
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
 * Checks before billable work that the private key belongs to the profile's known tenant, which is the tenant of the
 * management key. Only then is the right tenant named and confirmed. `unchanged` says that nothing was done.
 * @throws SvcError `config`
 */
export function requireKnownTenant(
  context: TenantSettings,
  tenant: string | null | undefined,
  unchanged: string,
): void {
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

interface Asking extends TenantSettings, Pick<Context, 'reportTenant'> {
  readonly prompts: () => Pick<Prompts, 'confirmIfPossible'>;
}

/**
 * Asks before billable work, if a prompt is possible. `what` names the work, such as `submit 6 rows`; `unchanged` says that
 * nothing was done. For a sandbox or test tenant, asks only if the work is unexpected.
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
