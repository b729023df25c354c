import { SvcError } from '../../base/errors.ts';
import { addressProblem } from '../../cli/config/values.ts';
import { displayHost, readAddress } from '../../schema/address.ts';

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
  if (!url.pathname.endsWith(LOGS_PATH)) url.pathname = url.pathname.replace(/\/+$/, '') + LOGS_PATH;
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
