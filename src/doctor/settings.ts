import fs from 'node:fs';
import { baseUrlText } from '../config/values.ts';
import { keyFiles } from '../config/keys.ts';
import { resolveSettings, type SettingFlags, type Settings } from '../config/settings.ts';
import { readConfig } from '../config/config-file.ts';
import { isShared, modeText } from '../files/private-directory.ts';
import type { System } from '../system.ts';
import { failed, failedBy, type Finding, ok, skipped, warning } from './finding.ts';

/** The config file: present, valid, private. `notices` say what was repaired when this command read it. */
export function checkConfig(system: System, notices: readonly string[]): Finding {
  try {
    const { file, exists, config } = readConfig(system);
    if (file === undefined)
      return warning('config', 'there is no home directory for it', 'Set HOME, or set SVC_CONFIG_DIR.');
    if (!exists) return skipped('config', `none yet; 'svc login' creates ${file}`);
    const names = Object.keys(config.profiles).length;
    const what = `${file} (${modeOf(file)}, ${names === 1 ? '1 profile' : `${names} profiles`})`;
    if (notices.length === 0) return ok('config', what);
    const fix = 'It has been repaired. If others may have read it, create new keys and store them.';
    return warning('config', notices.join('; '), fix);
  } catch (error) {
    return failedBy('config', error);
  }
}

/** Key files named in the environment that others can read too. An unreadable one fails with its key. */
export function checkKeyFiles(system: System): Finding[] {
  return keyFiles(system).flatMap(([file, variable]) => {
    const found = fs.statSync(file, { throwIfNoEntry: false });
    if (!found?.isFile()) return [];
    if (!isShared(found)) return [ok('key file', `${file} (${variable}, ${modeText(found)})`)];
    const fix = `Run 'chmod 600 ${file}', unless it is mounted for this container alone.`;
    return [warning('key file', `${file} (${variable}) can be read by others (${modeText(found)})`, fix)];
  });
}

/** The settings in effect: profile and base URL with their origin, or why there are none. */
export async function checkSettings(system: System, flags: SettingFlags): Promise<Finding[]> {
  try {
    const settings = await resolveSettings(system, flags);
    return [profileFinding(settings), baseUrlFinding(settings)];
  } catch (error) {
    return [failedBy('settings', error)];
  }
}

function profileFinding({ profile }: Settings): Finding {
  return ok('profile', `${profile.value} (${profile.origin.name})`);
}

function baseUrlFinding({ baseUrl, sandbox }: Settings): Finding {
  if (baseUrl) return ok('base URL', `${baseUrlText(baseUrl.value)} (${baseUrl.origin.name})`);
  if (sandbox) return ok('base URL', 'the embedded sandbox');
  const fix = "Set SVC_BASE_URL, or store one with 'svc login'; 'svc --sandbox …' needs none.";
  return failed('base URL', 'not set', fix, 'config');
}

function modeOf(file: string): string {
  return modeText(fs.statSync(file));
}
