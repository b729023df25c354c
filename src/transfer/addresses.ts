import { isLoopback, isSafeAddress, readAddress } from '../address.ts';
import { SvcError } from '../errors.ts';

/** The service that gave an address; a client is one. */
export interface AddressSource {
  readonly baseUrl: URL;
  /** Hides a value in all that is shown from now on. */
  readonly addSecret: (value: string) => void;
}

/**
 * Reads a pre-signed address of a job's file: https, or http where the service is on this machine too (R04). It is a
 * secret, so no error ever shows it, and what its query holds is hidden wherever the store may repeat it (R07).
 * @throws SvcError `bad_answer`
 */
export function requireStoreAddress(text: string, job: string, source: AddressSource): URL {
  const url = readAddress(text);
  const problem = url === undefined ? 'is not a URL' : problemOf(url, source.baseUrl);
  if (url === undefined || problem !== undefined)
    throw new SvcError('bad_answer', `the store address in the service's response ${problem}`, {
      hint: 'Check the base URL; addresses must be https. Nothing was sent.',
    });
  for (const [, value = ''] of url.search.matchAll(/=([^&]+)/g))
    for (const form of [value, decoded(value)]) if (form !== job) source.addSecret(form);
  return url;
}

function problemOf(url: URL, baseUrl: URL): string | undefined {
  if (!isSafeAddress(url)) return `has the scheme ${url.protocol.slice(0, 20)} and leaves this machine`;
  // What listens there is none of the service's; it would get the file, or pass for its results.
  return isLoopback(url) && !isLoopback(baseUrl) ? 'is on this machine, and the service is not' : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether a PUT there must name the blob type: a shared-access signature has `sv` and `sig` in its query. */
export function isAzureType(url: URL): boolean {
  return url.searchParams.has('sv') && url.searchParams.has('sig');
}
