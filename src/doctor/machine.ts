import fs from 'node:fs';
import path from 'node:path';
import { cacheDirectory, stateDirectory, type PathsHost } from '../config/paths.ts';
import { systemCodeOf } from '../system-code.ts';
import type { System } from '../system.ts';
import { failed, type Finding, ok, skipped, warning } from './finding.ts';
import { readRegularFileSync } from '../regular-file.ts';

const OLDEST_NODE = [20, 19] as const;

/** Node's version. */
export function checkNode({ nodeVersion, platform }: Pick<System, 'nodeVersion' | 'platform'>): Finding {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  const [least, leastMinor] = OLDEST_NODE;
  if (major > least || (major === least && minor >= leastMinor))
    return ok('node', `${nodeVersion} on ${platform}`);
  const mend = `Install Node ${least}.${leastMinor} or later.`;
  return failed('node', `${nodeVersion} is older than ${least}.${leastMinor}`, mend, 'local');
}

/** Whether the directories for state and cache can be written: a small file is made and removed where they exist. */
export function checkDirectories(system: PathsHost & Pick<System, 'pid'>): Finding[] {
  return [
    checkDirectory('state directory', stateDirectory(system), 'SVC_STATE_DIR', system.pid),
    checkDirectory('cache directory', cacheDirectory(system), 'SVC_CACHE_DIR', system.pid),
  ];
}

function checkDirectory(
  check: string,
  directory: string | undefined,
  variable: string,
  pid: number,
): Finding {
  const mend = `Make it writable for this user, or set ${variable} to a directory that is.`;
  if (directory === undefined)
    return warning(check, 'there is no home directory to keep it in', `Set HOME or ${variable}.`);
  try {
    const place = nearestExisting(directory);
    if (place === directory) tryToWrite(directory, pid);
    else fs.accessSync(place, fs.constants.W_OK | fs.constants.X_OK);
    return ok(check, place === directory ? directory : `${directory} (made when it is needed)`);
  } catch (error) {
    const why = WHY[systemCodeOf(error) ?? ''] ?? `cannot be written (${systemCodeOf(error) ?? 'unknown'})`;
    return failed(check, `${directory} ${why}`, mend, 'local');
  }
}

const WHY: Readonly<Record<string, string>> = {
  EACCES: 'may not be written by this user',
  EPERM: 'may not be written by this user',
  EROFS: 'is on a file system that cannot be written',
  ENOSPC: 'is on a disk that is full',
  EDQUOT: 'is on a disk whose quota is used up',
  ENOTDIR: 'is no directory, or below something that is none',
};

function nearestExisting(directory: string): string {
  const found = fs.statSync(directory, { throwIfNoEntry: false });
  if (found?.isDirectory()) return directory;
  const parent = path.dirname(directory);
  if (found !== undefined || parent === directory)
    throw Object.assign(new Error('no directory'), { code: 'ENOTDIR' });
  return nearestExisting(parent);
}

function tryToWrite(directory: string, pid: number): void {
  const file = path.join(directory, `.svc-doctor-${pid}`);
  try {
    fs.writeFileSync(file, 'svc doctor tries whether it can write here\n', { flag: 'wx', mode: 0o600 });
  } finally {
    fs.rmSync(file, { force: true });
  }
}

/** The file with further certificate authorities: Node passes over one that it cannot read. */
export function checkAuthorities({ env, cwd }: Pick<System, 'env' | 'cwd'>): Finding {
  const file = env['NODE_EXTRA_CA_CERTS'];
  if (!file) return skipped('certificate authorities', 'those of Node; NODE_EXTRA_CA_CERTS is not set');
  const mend = 'Name a readable file of certificates in PEM form, or unset NODE_EXTRA_CA_CERTS.';
  try {
    const count =
      readRegularFileSync(path.resolve(cwd, file)).split('-----BEGIN CERTIFICATE-----').length - 1;
    if (count > 0) return ok('certificate authorities', `${count} more from ${file}`);
    return warning('certificate authorities', `${file} (NODE_EXTRA_CA_CERTS) holds no certificate`, mend);
  } catch (error) {
    const why = `cannot be read (${systemCodeOf(error) ?? 'unknown'})`;
    return warning('certificate authorities', `${file} (NODE_EXTRA_CA_CERTS) ${why}`, mend);
  }
}
