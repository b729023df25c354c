import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Stats } from 'node:fs';
import tls from 'node:tls';
import { readProblem, SvcError } from '../../base/errors.ts';
import { isShared, modeText } from '../../base/files/directory.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import type { ClientCertificate } from '../../client/http/tls-options.ts';
import type { Settings } from './settings.ts';
import { baseUrlText, parseBaseUrl } from './values.ts';
import type { Setting } from './origin.ts';

type CertificateSettings = Pick<Settings, 'clientCert' | 'clientKey' | 'stored' | 'profile'>;
type File = Setting<string>;

/** Returns the files of the client certificate and its key; undefined if neither is set. @throws SvcError `config` for only one */
export function certificateFiles({ clientCert, clientKey }: CertificateSettings): readonly [File, File] | undefined {
  if (isSet(clientCert) && isSet(clientKey)) return [clientCert, clientKey];
  if (!isSet(clientCert) && !isSet(clientKey)) return undefined;
  const [problem, setting] = isSet(clientCert)
    ? ['a client certificate is set without its key', 'client_key']
    : ['the key of a client certificate is set without the certificate', 'client_cert'];
  throw new SvcError('config', problem, {
    hint: `Set SVC_${setting.toUpperCase()}, or store its path; a file that contains both can be named twice.`,
    next: ['profile', 'set', setting, '<file>'],
  });
}

/** Whether the profile stores its certificate for another service, so that the service at this base URL must not get it. */
export function isForOther({ clientCert, clientKey, stored, profile }: CertificateSettings, baseUrl: URL): boolean {
  const isStored = [clientCert, clientKey].some(({ origin }) => origin.kind === 'profile');
  if (!isStored || stored?.base_url === undefined) return false;
  const origin = { kind: 'profile', name: `profile ${profile.value}` } as const;
  return baseUrlText(parseBaseUrl(stored.base_url, origin)) !== baseUrlText(baseUrl);
}

/**
 * Reads the client certificate for the service at a base URL; undefined if none is set for this service.
 * @throws SvcError `config` for a file that cannot be used, or a key that others can read (R08)
 */
export function readClientCertificate(settings: CertificateSettings, baseUrl: URL): ClientCertificate | undefined {
  const files = certificateFiles(settings);
  if (files === undefined || baseUrl.protocol !== 'https:' || isForOther(settings, baseUrl)) return undefined;
  const [certFile, keyFile] = files;
  const cert = readCertificate(certFile);
  const key = readCertificateKey(keyFile);
  try {
    tls.createSecureContext({ cert, key });
  } catch {
    throw new SvcError(
      'config',
      `the key ${keyFile.value} does not belong to the client certificate ${certFile.value}`,
      { hint: `Check ${certFile.origin.name} and ${keyFile.origin.name}: each pair of files belongs together.` },
    );
  }
  return { cert, key };
}

/** Reads a certificate in PEM form. @throws SvcError `config` */
export function readCertificate(file: File): string {
  const text = readPem(file, CERTIFICATE);
  try {
    void new X509Certificate(text);
  } catch {
    throw badFile(file, CERTIFICATE, 'contains no certificate in PEM form');
  }
  return text;
}

/** Reads the key of a certificate in PEM form. @throws SvcError `config`, also for a file that others can read */
export function readCertificateKey(file: File): string {
  const text = readPem(file, KEY, (found) => {
    if (!isShared(found)) return;
    throw new SvcError(
      'config',
      `${KEY} ${file.value} (${file.origin.name}) can be read by others (${modeText(found)})`,
      { hint: "Make it private with 'chmod 600'. If others may have read it, ask for a new certificate." },
    );
  });
  if (/^-----BEGIN ENCRYPTED|^Proc-Type: 4,ENCRYPTED/m.test(text))
    throw badFile(file, KEY, 'needs a passphrase, which svc cannot ask for');
  try {
    createPrivateKey(text);
  } catch {
    throw badFile(file, KEY, 'contains no private key in PEM form');
  }
  return text;
}

const CERTIFICATE = 'the client certificate';
const KEY = 'the key of the client certificate';

function isSet(setting: Setting<string | undefined>): setting is File {
  return setting.value !== undefined;
}

function readPem(file: File, what: string, check?: (found: Stats) => void): string {
  try {
    return readRegularFileSync(file.value, check);
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw badFile(file, what, readProblem(error));
  }
}

function badFile({ value, origin }: File, what: string, problem: string): SvcError {
  return new SvcError('config', `${what} ${value} (${origin.name}) ${problem}`, {
    hint: 'Name a file in PEM form that this user can read, and a key without a passphrase.',
  });
}
