import { X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { readProblem, writeFailure } from '../../base/errors.ts';
import { isShared, modeText } from '../../base/files/directory.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import { tryDirectory } from '../../base/files/try-directory.ts';
import type { System } from '../../base/system.ts';
import type { Context } from '../../cli/app/command.ts';
import {
  certificateFiles,
  isForOther,
  readCertificate,
  readClientCertificate,
} from '../../cli/config/client-certificate.ts';
import { readConfig } from '../../cli/config/config-file.ts';
import { keyFiles } from '../../cli/config/keys.ts';
import { directoryOf } from '../../cli/config/paths.ts';
import { resolveSettings, type SettingFlags } from '../../cli/config/settings.ts';
import { baseUrlText } from '../../cli/config/values.ts';
import { misspelledText, misspelledVariables } from '../../cli/config/variables.ts';
import { countText } from '../../cli/output/number.ts';
import { DAY_MS } from '../../schema/durations.ts';
import {
  type Check,
  fail,
  type Finding,
  findingsOf,
  findingsOfAll,
  type CheckOutcome,
  rethrow,
  skip,
  warn,
} from './check.ts';

const MIN_NODE = '20.19';

/** Checks this machine: Node, settings, key files, certificates, and the directories that svc writes to. */
export async function checkMachine(context: Context): Promise<Finding[]> {
  const { system, settings, globals } = context;
  const node = await findingsOf({
    name: 'node',
    cure: `Install Node ${MIN_NODE} or later.`,
    try: () => tryNode(system),
  });
  const config = await findingsOf({
    name: 'config',
    cure: 'It has been repaired. If others may have read it, create new keys and store them.',
    try: () => tryConfig(system, settings.notices),
  });
  const isDamaged = config.some(({ result }) => result === 'failed');
  const unknown = { name: 'settings', try: () => skip('not known until the config is fixed') };
  const inEffect = isDamaged ? [unknown] : await settingChecks(system, globals);
  const others = [...inEffect, ...variableChecks(system), ...fileChecks(system), ...certificateChecks(context)];
  return [...node, ...config, ...(await findingsOfAll(others))];
}

function variableChecks(system: System): Check[] {
  return misspelledVariables(system).map((found) => ({
    name: 'variable',
    cure: `Rename ${found.name} to ${found.meant}, or unset it.`,
    try: () => warn(misspelledText(found)),
  }));
}

/** Returns the checks of key files, and of the directories that svc writes to. */
function fileChecks(system: System): Check[] {
  const files = keyFiles(system).map(([file, variable]) => ({
    name: 'key file',
    cure: "Make it private with 'chmod 600', unless it is mounted for this container alone.",
    try: () => tryKeyFile(file, variable),
  }));
  const directories = (['state', 'cache'] as const).map((kind) => {
    const variable = `SVC_${kind.toUpperCase()}_DIR`;
    const cure = `Make it writable for this user, or set ${variable} to a directory that is.`;
    return { name: `${kind} directory`, cure, try: () => tryWritable(directoryOf(system, kind), variable) };
  });
  return [...files, ...directories];
}

function certificateChecks(context: Context): Check[] {
  return [
    {
      name: 'certificate authorities',
      cure: 'Name a readable file of certificates in PEM form, or unset NODE_EXTRA_CA_CERTS.',
      try: () => tryAuthorities(context.system),
    },
    {
      name: 'client certificate',
      cure: 'Ask whoever gave you the certificate for a new one, and replace both files.',
      try: () => tryClientCertificate(context),
    },
  ];
}

function tryNode({ nodeVersion, platform }: Pick<System, 'nodeVersion' | 'platform'>): CheckOutcome | string {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  const [minMajor = 0, minMinor = 0] = MIN_NODE.split('.').map(Number);
  const isNewEnough = major > minMajor || (major === minMajor && minor >= minMinor);
  return isNewEnough ? `${nodeVersion} on ${platform}` : fail('local', `${nodeVersion} is older than ${MIN_NODE}`);
}

/** Checks that the config file is present, valid and private. `notices` name the repairs made while reading the file. */
function tryConfig(system: System, notices: readonly string[]): CheckOutcome | string {
  const { file, exists, config } = readConfig(system);
  if (file === undefined) return warn('there is no home directory for it', 'Set HOME, or set SVC_CONFIG_DIR.');
  if (!exists) return skip(`none yet; login creates ${file}`);
  if (notices.length > 0) return warn(notices.join('; '));
  return `${file} (${modeText(fs.statSync(file))}, ${countText(Object.keys(config.profiles).length, 'profile')})`;
}

/** Returns the checks of profile and base URL, or of the error in the settings. */
async function settingChecks(system: System, flags: SettingFlags): Promise<Check[]> {
  const resolved = await resolveSettings(system, flags).catch((error: unknown) => ({ error }));
  if ('error' in resolved) return [{ name: 'settings', try: () => rethrow(resolved.error) }];
  const { profile, baseUrl, sandbox } = resolved;
  const address = (): CheckOutcome | string => {
    if (baseUrl) return `${baseUrlText(baseUrl.value)} (${baseUrl.origin.name})`;
    return sandbox ? 'the embedded sandbox' : { ...fail('config', 'not set'), next: ['login'] };
  };
  return [
    { name: 'profile', try: () => `${profile.value} (${profile.origin.name})` },
    { name: 'base URL', cure: 'Set SVC_BASE_URL, or store one. The sandbox needs none.', try: address },
  ];
}

/** Checks that others cannot read a key file. The check of the key reports a file that svc itself cannot read. */
function tryKeyFile(file: string, variable: string): CheckOutcome | string | undefined {
  const found = statIfReachable(file);
  if (!found?.isFile()) return undefined;
  if (isShared(found)) return warn(`${file} (${variable}) can be read by others (${modeText(found)})`);
  return `${file} (${variable}, ${modeText(found)})`;
}

function statIfReachable(file: string): fs.Stats | undefined {
  try {
    return fs.statSync(file);
  } catch {
    return undefined;
  }
}

/** Checks that svc can write to a directory, with a temporary folder. */
function tryWritable(directory: string | undefined, variable: string): CheckOutcome | string {
  if (directory === undefined) return warn('there is no home directory for it', `Set HOME or ${variable}.`);
  try {
    const existing = nearestExisting(directory);
    const hasLinks = tryDirectory(existing);
    const found = existing === directory ? directory : `${directory} (created when needed)`;
    if (hasLinks) return found;
    const unlinked = `${found}: its file system has no hard links, so its locks may not stop other machines`;
    return warn(unlinked, 'Let only one machine use it, or choose a directory on a disk.');
  } catch (error) {
    const { message, code } = writeFailure(directory, error);
    return fail(code, message);
  }
}

function nearestExisting(directory: string): string {
  const found = fs.statSync(directory, { throwIfNoEntry: false });
  if (found?.isDirectory()) return directory;
  const parent = path.dirname(directory);
  if (found !== undefined || parent === directory) throw Object.assign(new Error('no directory'), { code: 'ENOTDIR' });
  return nearestExisting(parent);
}

/** Checks the file of extra certificate authorities, which Node ignores without a warning if the file is unreadable. */
function tryAuthorities({ env, cwd }: Pick<System, 'env' | 'cwd'>): CheckOutcome | string {
  const file = env['NODE_EXTRA_CA_CERTS'];
  if (!file) return skip("Node's own; NODE_EXTRA_CA_CERTS is not set");
  try {
    const count = readRegularFileSync(path.resolve(cwd, file)).split('-----BEGIN CERTIFICATE-----').length - 1;
    return count > 0 ? `${count} more from ${file}` : warn(`${file} (NODE_EXTRA_CA_CERTS) contains no certificate`);
  } catch (error) {
    return warn(`${file} (NODE_EXTRA_CA_CERTS) ${readProblem(error)}`);
  }
}

const SOON_DAYS = 14;

/** Checks that the client certificate and its key are readable, belong together, and have not expired. */
function tryClientCertificate({ settings, clock }: Context): CheckOutcome | string | undefined {
  const files = certificateFiles(settings);
  if (files === undefined) return undefined;
  const { baseUrl } = settings;
  if (baseUrl !== undefined && isForOther(settings, baseUrl.value))
    return skip(`not shown: the profile has it for another base URL than ${baseUrl.origin.name}`);
  if (baseUrl?.value.protocol !== 'https:') return skip('not shown: there is no https address');
  readClientCertificate(settings, baseUrl.value);
  const file = files[0].value;
  const { validFrom, validTo } = new X509Certificate(readCertificate(files[0]));
  const days = Math.floor((Date.parse(validTo) - clock.now()) / DAY_MS);
  if (days < 0) return fail('config', `${file} has expired (${validTo})`);
  if (Date.parse(validFrom) > clock.now())
    return fail('config', `${file} is not valid yet (from ${validFrom})`, "Check this machine's clock.");
  const found = `${file}, expires in ${countText(days, 'day')}`;
  return days < SOON_DAYS ? warn(found) : found;
}
