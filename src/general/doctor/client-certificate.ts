import { X509Certificate } from 'node:crypto';
import {
  certificateFiles,
  isForOther,
  readCertificate,
  readClientCertificate,
} from '../../cli/config/client-certificate.ts';
import type { Settings } from '../../cli/config/settings.ts';
import { countText } from '../../cli/output/time.ts';
import type { ClientCertificate } from '../../client/http/tls-options.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { failed, failedBy, type Finding, ok, skipped, warning } from './finding.ts';

/** The finding about the client certificate, and the certificate itself if it can be shown to the service. */
export interface CheckedCertificate {
  readonly findings: readonly Finding[];
  readonly certificate?: ClientCertificate | undefined;
}

/** Checks that the client certificate and its key can be read, belong together, and have not expired. */
export function checkClientCertificate(settings: Settings, now: number): CheckedCertificate {
  try {
    const files = certificateFiles(settings);
    if (files === undefined) return { findings: [] };
    const { baseUrl } = settings;
    if (baseUrl !== undefined && isForOther(settings, baseUrl.value))
      return {
        findings: [skipped(CHECK, `not shown: the profile has it for another base URL than ${baseUrl.origin.name}`)],
      };
    if (baseUrl?.value.protocol !== 'https:')
      return { findings: [skipped(CHECK, 'not shown: there is no https address')] };
    const certificate = readClientCertificate(settings, baseUrl.value);
    return { findings: [ageFinding(readCertificate(files[0]), files[0].value, now)], certificate };
  } catch (error) {
    return { findings: [failedBy(CHECK, error)] };
  }
}

const CHECK = 'client certificate';
const SOON_DAYS = 14;

function ageFinding(text: string, file: string, now: number): Finding {
  const { validFrom, validTo } = new X509Certificate(text);
  const days = Math.floor((Date.parse(validTo) - now) / DAY_MS);
  const fix = 'Ask whoever gave you the certificate for a new one, and replace both files.';
  if (days < 0) return failed(CHECK, `${file} has expired (${validTo})`, fix, 'config');
  if (Date.parse(validFrom) > now)
    return failed(CHECK, `${file} is not valid yet (from ${validFrom})`, "Check this machine's clock.", 'config');
  const found = `${file}, expires in ${countText(days, 'day')}`;
  return days < SOON_DAYS ? warning(CHECK, found, fix) : ok(CHECK, found);
}
