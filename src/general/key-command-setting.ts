import { SvcError } from '../base/errors.ts';
import type { Context } from '../cli/app/command.ts';
import { updateConfig } from '../cli/config/config-file.ts';
import { type Config, storedProfile } from '../cli/config/config-format.ts';
import { rememberTenant } from '../cli/config/tenant-of-keys.ts';
import { fromProfile, parseBaseUrl } from '../cli/config/values.ts';
import type { KeyType } from '../schema/tenant.ts';
import { checkedKey, givenKeys } from './login-keys.ts';
import { warnOfOtherKey } from './preceding-variable.ts';

/**
 * Stores a key command in the profile in use, after it ran and its key was verified.
 * It replaces a stored key, which may exist nowhere else, so that a mistyped command must change nothing.
 * @throws SvcError if the command fails or its key is refused; `config` if the profile has no base URL
 */
export async function storeKeyCommand(
  context: Context,
  kind: KeyType,
  command: string,
  { check }: { readonly check: boolean },
): Promise<void> {
  const { system, settings, notices } = context;
  if (command.trim() === '')
    throw new SvcError('usage', `${kind}_key_command must not be empty`, { hint: 'Remove it with --unset.' });
  const name = settings.profile.value;
  const base_url = settings.stored?.base_url;
  // The output of the command is a key, which goes to one base URL only.
  if (base_url === undefined)
    throw new SvcError('config', 'the profile has no base URL that the key could be for', {
      hint: 'Set it first:',
      next: ['profile', 'set', 'base_url', '<url>'],
    });
  const options = { managementKeyStdin: false, privateKeyStdin: false, noCheck: !check };
  const typed = { managementKeyCommand: undefined, privateKeyCommand: undefined, [`${kind}KeyCommand`]: command };
  const [key] = await givenKeys(context, { ...options, ...typed });
  const baseUrl = parseBaseUrl(base_url, fromProfile(name));
  if (key !== undefined) await checkedKey(context, key, { baseUrl, check });
  let replaced = false;
  const { config: after } = await updateConfig(system, (config) => {
    const profile = storedProfile(config, name) ?? { base_url };
    replaced = profile.keys?.[kind]?.value !== undefined;
    config.profiles[name] = { ...profile, keys: { ...profile.keys, [kind]: { command, base_url } } };
  });
  const { keys } = storedProfile(after, name) ?? {};
  if (key?.tenant) rememberTenant(system, { profile: name, baseUrl: base_url, keys }, key.tenant);
  notices.success(`set ${kind}_key_command of profile ${name}`);
  warnOfOtherKey(context, kind);
  if (replaced) notices.note(`it replaces the stored ${kind} key, which is no longer in the config file`);
}

/** Removes the key command of a profile; returns whether there was one. A stored key stays. */
export function withoutKeyCommand(config: Config, name: string, kind: KeyType): boolean {
  const profile = storedProfile(config, name);
  const { [kind]: before, ...keys } = profile?.keys ?? {};
  if (profile === undefined || before?.command === undefined || before.value !== undefined) return false;
  config.profiles[name] = { ...profile, keys };
  return true;
}
