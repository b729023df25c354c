// Reads the settings of an OTLP export.

import { SvcError } from '../../base/errors.ts';
import type { Environment } from '../../base/system.ts';
import { addressProblem } from '../../cli/config/values.ts';
import { decodedUri, displayHost, readAddress } from '../../schema/address.ts';

/** The settings of an export, from the environment variables that OpenTelemetry's exporters read. */
export interface OtlpSettings {
  /** The headers of every post, by lower-case name. Their values are secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** The attributes that identify these logs at the collector. `service.name` is always present. */
  readonly resource: Readonly<Record<string, string>>;
  readonly gzip: boolean;
}

const PREFIX = 'OTEL_EXPORTER_OTLP_';
const NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
/** Headers that only svc or the connection may set. */
const OURS =
  /^(host|connection|keep-alive|upgrade|expect|content-(type|length|encoding)|transfer-encoding|svc-api-key)$/;

/** Reads the settings. @throws SvcError `config`, which names the variable and never shows its value */
export function otlpSettings(environment: Environment): OtlpSettings {
  const read = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const forLogs = (name: string): string =>
    read(`${PREFIX}LOGS_${name}`) === undefined ? PREFIX + name : `${PREFIX}LOGS_${name}`;
  const compression = forLogs('COMPRESSION');
  const resource = readPairs('OTEL_RESOURCE_ATTRIBUTES', read('OTEL_RESOURCE_ATTRIBUTES'));
  const service = read('OTEL_SERVICE_NAME');
  return {
    headers: {
      ...readHeaders(`${PREFIX}HEADERS`, read(`${PREFIX}HEADERS`)),
      ...readHeaders(`${PREFIX}LOGS_HEADERS`, read(`${PREFIX}LOGS_HEADERS`)),
    },
    resource: { 'service.name': 'svc', ...resource, ...(service !== undefined && { 'service.name': service }) },
    gzip: readCompression(compression, read(compression)),
  };
}

function readHeaders(variable: string, text: string | undefined): Record<string, string> {
  const headers = Object.entries(readPairs(variable, text)).map(([name, value]): [string, string] => {
    const lower = name.toLowerCase();
    if (OURS.test(lower))
      throw new SvcError('config', `${variable} sets the header ${lower}, which svc or the connection sets`, {
        hint: 'Leave this header out.',
      });
    if (!NAME.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw unreadable(variable, `${PAIRS}, each value of printable ASCII characters`);
    return [lower, value];
  });
  return Object.fromEntries(headers);
}

const PAIRS = 'name=value,name=value';

// Parses pairs with percent-encoded values.
function readPairs(variable: string, text = ''): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair): [string, string] => {
      const at = pair.indexOf('=');
      const name = pair.slice(0, Math.max(0, at)).trim();
      const value = decodedUri(pair.slice(at + 1).trim());
      if (name === '' || value === undefined) throw unreadable(variable, PAIRS);
      return [name, value];
    }),
  );
}

function readCompression(variable: string, text = 'gzip'): boolean {
  if (text === 'gzip' || text === 'none') return text === 'gzip';
  throw unreadable(variable, 'gzip or none');
}

function unreadable(variable: string, form: string): SvcError {
  return new SvcError('config', `${variable} cannot be read`, { hint: `Set it in the form: ${form}.` });
}

const SCHEME = /^otlp\+(?=https?:)/i;
const LOGS_PATH = '/v1/logs';

/**
 * Parses the address of an OTLP/HTTP receiver such as `otlp+https://collector.example:4318`, and adds the path for logs.
 * @throws SvcError `usage`, which does not show the address
 */
export function parseDestination(text: string): URL {
  const url = SCHEME.test(text) ? readAddress(text.replace(SCHEME, '')) : undefined;
  const problem = problemOf(url);
  if (url === undefined || problem !== undefined)
    throw new SvcError('usage', problem ?? '', {
      hint: 'Give the address of an OTLP/HTTP receiver, such as otlp+http://127.0.0.1:4318.',
    });
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path.endsWith(LOGS_PATH) ? path : path + LOGS_PATH;
  return url;
}

/** Returns the destination as it is typed. It contains no secret. */
export function destinationText(url: URL): string {
  const path = url.pathname.slice(0, -LOGS_PATH.length);
  return `otlp+${displayHost(url)}${path}`;
}

function problemOf(url: URL | undefined): string | undefined {
  if (url === undefined) return 'must be an address that begins with otlp+https:// or otlp+http://';
  if (url.search !== '' || url.hash !== '') return 'must not contain a query: it could be a secret';
  return addressProblem(url);
}
