import type { Context } from '../cli/app/command.ts';
import { keyOrigin } from '../cli/config/keys.ts';
import { PROFILE_SETTINGS } from '../cli/config/profile-settings.ts';
import type { Origin } from '../cli/config/values.ts';
import { ownMember } from '../schema/own-member.ts';
import type { KeyType } from '../schema/tenant.ts';

type Host = Pick<Context, 'system' | 'notices' | 'settings'>;

/** Warns that commands use another profile than the one that was just chosen. */
export function warnOfOtherProfile(host: Host, name: string): void {
  // Only the variable decides: the profile of this command line may be a typed one.
  warn(host, { kind: 'environment', name: 'SVC_PROFILE' }, name, 'commands still use the profile that it names');
}

/** Warns that commands use another value of a setting than the one that was just stored. */
export function warnOfOtherValue(host: Host, setting: string, value: string): void {
  // Commands get the certificates of the profile in the variable.
  if (setting === 'certificates' && host.settings.certificates.origin.kind !== 'environment') return;
  const name = ownMember(PROFILE_SETTINGS, setting)?.variable;
  if (name) warn(host, { kind: 'environment', name }, value, `commands still use its value of ${setting}`);
}

/** Warns that commands use another key of this type than the one that was just stored; a command has no known key. */
export function warnOfOtherKey(host: Host, type: KeyType, key?: string): void {
  warn(host, keyOrigin(host.system, host.settings, type), key, `commands still use its ${type} key`);
}

/** The value of a variable is not shown: it may be a key in the wrong place. */
function warn({ system, notices }: Host, origin: Origin | undefined, stored: string | undefined, effect: string): void {
  const value = origin?.kind === 'environment' ? system.env[origin.name] : undefined;
  if (value && value.trim() !== stored) notices.warn(`${origin?.name} is set: ${effect} until you unset it`);
}
