// Warns of variables that take precedence over a stored setting.

import type { Context } from '../cli/app/command.ts';
import { keyOrigin } from '../cli/config/keys.ts';
import { PROFILE_SETTINGS } from '../cli/config/profile-settings.ts';
import type { Origin } from '../cli/config/origin.ts';
import { ownMember } from '../schema/own-member.ts';
import type { KeyType } from '../schema/tenant.ts';

type Host = Pick<Context, 'system' | 'notices' | 'settings'>;

/** Warns that SVC_PROFILE overrides the profile that was just chosen. */
export function warnOfOtherProfile(host: Host, name: string): void {
  // The settings of this command may come from --profile, so this checks only the variable.
  warn(host, { kind: 'environment', name: 'SVC_PROFILE' }, name, 'commands still use the profile that it names');
}

/** Warns that a variable overrides the setting that was just stored. */
export function warnOfOtherValue(host: Host, setting: string, value: string): void {
  // svc itself sets SVC_CERTIFICATES from the profile, which is no reason to warn.
  if (setting === 'certificates' && host.settings.certificates.origin.kind !== 'environment') return;
  const name = ownMember(PROFILE_SETTINGS, setting)?.variable;
  if (name) warn(host, { kind: 'environment', name }, value, `commands still use its value of ${setting}`);
}

/** Warns that a variable overrides the key that was just stored or removed. `key` is undefined for a removed key or a key command. */
export function warnOfOtherKey(host: Host, type: KeyType, key?: string): void {
  warn(host, keyOrigin(host.system, host.settings, type), key, `commands still use its ${type} key`);
}

/** Warns of a variable with another value than the stored one. Does not show the value, which may be a key. */
function warn({ system, notices }: Host, origin: Origin | undefined, stored: string | undefined, effect: string): void {
  const value = origin?.kind === 'environment' ? system.env[origin.name] : undefined;
  if (value && value.trim() !== stored) notices.warn(`${origin?.name} is set: ${effect} until you unset it`);
}
