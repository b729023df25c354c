import fs from 'node:fs';
import path from 'node:path';
import { readProblem, writeFailure } from '../../base/errors.ts';
import { isShared, modeText } from '../../base/files/directory.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import { tryDirectory } from '../../base/files/try-directory.ts';
import type { System } from '../../base/system.ts';
import { readConfig } from '../../cli/config/config-file.ts';
import { keyFiles } from '../../cli/config/keys.ts';
import { directoryOf, type PathsHost } from '../../cli/config/paths.ts';
import { resolveSettings, type SettingFlags } from '../../cli/config/settings.ts';
import { baseUrlText } from '../../cli/config/values.ts';
import { misspelledText, misspelledVariables } from '../../cli/config/variables.ts';
import { failed, failedBy, type Finding, ok, skipped, warning } from './finding.ts';

const OLDEST_NODE = [20, 19] as const;

export function checkNode({ nodeVersion, platform }: Pick<System, 'nodeVersion' | 'platform'>): Finding {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  const [least, leastMinor] = OLDEST_NODE;
  if (major > least || (major === least && minor >= leastMinor)) return ok('node', `${nodeVersion} on ${platform}`);
  const fix = `Install Node ${least}.${leastMinor} or later.`;
  return failed('node', `${nodeVersion} is older than ${least}.${leastMinor}`, fix, 'local');
}

/** Finds variables whose names are nearly those of svc, which are not read. */
export function checkVariables(system: Pick<System, 'env' | 'platform'>): Finding[] {
  return misspelledVariables(system).map((found) =>
    warning('variable', misspelledText(found), `Rename ${found.name} to ${found.meant}, or unset it.`),
  );
}

/** Checks that the state and cache directories take what svc writes, by trying it in a folder that is removed again. */
export function checkDirectories(system: PathsHost): Finding[] {
  return [checkDirectory(system, 'state', 'SVC_STATE_DIR'), checkDirectory(system, 'cache', 'SVC_CACHE_DIR')];
}

function checkDirectory(system: PathsHost, kind: 'state' | 'cache', variable: string): Finding {
  const check = `${kind} directory`;
  try {
    return checkWritable(check, directoryOf(system, kind), variable);
  } catch (error) {
    return failedBy(check, error);
  }
}

function checkWritable(check: string, directory: string | undefined, variable: string): Finding {
  const fix = `Make it writable for this user, or set ${variable} to a directory that is.`;
  if (directory === undefined) return warning(check, 'there is no home directory for it', `Set HOME or ${variable}.`);
  try {
    const existing = nearestExisting(directory);
    const hasLinks = tryDirectory(existing);
    const found = existing === directory ? directory : `${directory} (created when needed)`;
    if (hasLinks) return ok(check, found);
    const unlinked = `${found}: its file system has no hard links, so its locks may not stop other machines`;
    return warning(check, unlinked, 'Let only one machine use it, or choose a directory on a disk.');
  } catch (error) {
    const { message, code } = writeFailure(directory, error);
    return failed(check, message, fix, code);
  }
}

function nearestExisting(directory: string): string {
  const found = fs.statSync(directory, { throwIfNoEntry: false });
  if (found?.isDirectory()) return directory;
  const parent = path.dirname(directory);
  if (found !== undefined || parent === directory) throw Object.assign(new Error('no directory'), { code: 'ENOTDIR' });
  return nearestExisting(parent);
}

/** Checks the file of extra certificate authorities, which Node silently ignores if it is unreadable. */
export function checkAuthorities({ env, cwd }: Pick<System, 'env' | 'cwd'>): Finding {
  const file = env['NODE_EXTRA_CA_CERTS'];
  if (!file) return skipped('certificate authorities', "Node's own; NODE_EXTRA_CA_CERTS is not set");
  const fix = 'Name a readable file of certificates in PEM form, or unset NODE_EXTRA_CA_CERTS.';
  try {
    const count = readRegularFileSync(path.resolve(cwd, file)).split('-----BEGIN CERTIFICATE-----').length - 1;
    if (count > 0) return ok('certificate authorities', `${count} more from ${file}`);
    return warning('certificate authorities', `${file} (NODE_EXTRA_CA_CERTS) contains no certificate`, fix);
  } catch (error) {
    return warning('certificate authorities', `${file} (NODE_EXTRA_CA_CERTS) ${readProblem(error)}`, fix);
  }
}

/** Checks that the config file is present, valid and private. `notices` name repairs made while reading it. */
export function checkConfig(system: System, notices: readonly string[]): Finding {
  try {
    const { file, exists, config } = readConfig(system);
    if (file === undefined)
      return warning('config', 'there is no home directory for it', 'Set HOME, or set SVC_CONFIG_DIR.');
    if (!exists) return skipped('config', `none yet; login creates ${file}`);
    const names = Object.keys(config.profiles).length;
    const what = `${file} (${modeText(fs.statSync(file))}, ${names === 1 ? '1 profile' : `${names} profiles`})`;
    if (notices.length === 0) return ok('config', what);
    const fix = 'It has been repaired. If others may have read it, create new keys and store them.';
    return warning('config', notices.join('; '), fix);
  } catch (error) {
    return failedBy('config', error);
  }
}

/** Finds key files that others can read. An unreadable one is reported with its key. */
export function checkKeyFiles(system: System): Finding[] {
  return keyFiles(system).flatMap(([file, variable]) => {
    const found = fs.statSync(file, { throwIfNoEntry: false });
    if (!found?.isFile()) return [];
    if (!isShared(found)) return [ok('key file', `${file} (${variable}, ${modeText(found)})`)];
    const fix = `Run 'chmod 600 ${file}', unless it is mounted for this container alone.`;
    return [warning('key file', `${file} (${variable}) can be read by others (${modeText(found)})`, fix)];
  });
}

/** Checks the settings in effect: profile and base URL with their origins, or why there are none. */
export async function checkSettings(system: System, flags: SettingFlags): Promise<Finding[]> {
  try {
    const { profile, baseUrl, sandbox } = await resolveSettings(system, flags);
    const named = ok('profile', `${profile.value} (${profile.origin.name})`);
    if (baseUrl) return [named, ok('base URL', `${baseUrlText(baseUrl.value)} (${baseUrl.origin.name})`)];
    if (sandbox) return [named, ok('base URL', 'the embedded sandbox')];
    const fix = 'Set SVC_BASE_URL, or store one. The sandbox needs none.';
    return [named, { ...failed('base URL', 'not set', fix, 'config'), next: ['login'] }];
  } catch (error) {
    return [failedBy('settings', error)];
  }
}
