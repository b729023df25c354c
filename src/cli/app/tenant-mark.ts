import type { TenantFacts } from '../../schema/tenant.ts';
import { knownTenant } from '../config/cache.ts';
import { hasSandboxKeys, KEY_TYPES, keyOrigin, type KeySettings } from '../config/keys.ts';
import type { PathsHost } from '../config/paths.ts';
import type { Settings } from '../config/settings.ts';
import { baseUrlText } from '../config/values.ts';
import { jsonLine } from '../output/formats.ts';
import type { Prompts } from '../output/prompt.ts';
import { cleanText } from '../output/text.ts';
import { type Palette, plainPalette, type Tone } from '../output/view.ts';
import type { Context } from './command.ts';

/** A test tenant is harmless, all others are not: the color says so beside the word. */
export function tenantTone(type: unknown): Tone {
  return type === 'test' ? 'good' : 'alarm';
}

/** The visible mark of the tenant's type, TEST or PRODUCTION, safe for a terminal. */
export function tenantMark(type: string, palette: Palette): string {
  const word = cleanText(type).toUpperCase();
  // Room for the background.
  return palette === plainPalette ? word : palette[tenantTone(type)](palette.strong(` ${word} `));
}

/** The tenant's mark, name and id on one line, safe for a terminal. */
export function headline({ type, name, id }: TenantFacts, palette: Palette): string {
  return `${tenantMark(type, palette)} ${palette.strong(cleanText(name))} (${cleanText(id)})`;
}

/** Which tenant a question is about: `PRODUCTION tenant "Acme"`. */
export function describeTenant({ type, name }: Pick<TenantFacts, 'type' | 'name'>): string {
  return `${type.toUpperCase()} tenant ${jsonLine(name)}`;
}

interface Settled {
  readonly system: PathsHost;
  readonly settings: KeySettings & Pick<Settings, 'baseUrl'>;
}

/** The tenant of the keys in use, as far as that is known without a request. */
export function tenantInUse({ system, settings }: Settled): TenantFacts | undefined {
  const { sandbox, baseUrl, profile } = settings;
  if (sandbox || baseUrl === undefined || hasEnvironmentKey({ system, settings })) return undefined;
  return knownTenant(system, profile.value, baseUrlText(baseUrl.value));
}

/** Whether a key comes from the environment: it may be of any tenant, whatever the profile's own keys are. */
export function hasEnvironmentKey({ system, settings }: Settled): boolean {
  return KEY_TYPES.some((type) => keyOrigin(system, settings, type)?.kind === 'environment');
}

/** Whether a change cannot do harm: at a sandbox, and at a tenant that is known to be a test tenant. */
function isHarmless({ system, settings }: Settled): boolean {
  const tenant = tenantInUse({ system, settings });
  return tenant ? tenant.type === 'test' : settings.sandbox || hasSandboxKeys(system, settings);
}

/** Marks on stderr where a command changes something: nothing for a test tenant, and what is unknown as unknown. */
export function reportTenant(context: Settled & Pick<Context, 'notices' | 'noticePalette'>, read?: TenantFacts): void {
  const { settings, notices, noticePalette } = context;
  if (!notices.shows('normal') || (read === undefined && isHarmless(context))) return;
  const tenant = read ?? tenantInUse(context);
  const { profile, baseUrl } = settings;
  const where = `profile ${cleanText(profile.value)}, ${baseUrl === undefined ? '' : baseUrlText(baseUrl.value)}`;
  const line = tenant ? headline(tenant, noticePalette) : `${tenantMark('unknown tenant', noticePalette)} ${where}`;
  notices.report(`${line}\n`);
}

interface Asking extends Settled, Pick<Context, 'reportTenant'> {
  readonly prompts: () => Pick<Prompts, 'confirmIfPossible'>;
}

/** Asks before something is paid for, where that is possible and may do harm. `what`: such as `submit 6 rows`. */
export async function confirmCost(context: Asking, what: string): Promise<boolean> {
  if (isHarmless(context)) return true;
  await context.reportTenant();
  const tenant = tenantInUse(context);
  const who = tenant ? describeTenant(tenant) : 'UNKNOWN TENANT';
  return context.prompts().confirmIfPossible(`${who}: ${what}? This may be billed.`);
}
