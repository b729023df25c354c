import { isSafeAddress, readAddress } from '../address.ts';
import { SvcError } from '../errors.ts';

/**
 * Reads a pre-signed address that the service gave: https, or http on this machine (R04). It is a secret, so no
 * error ever shows it.
 * @throws SvcError `bad_answer`
 */
export function requireSafeStoreAddress(text: string): URL {
  const url = readAddress(text);
  if (url && isSafeAddress(url)) return url;
  const what = url ? `has the scheme ${url.protocol.slice(0, 20)} and leaves this machine` : 'is not a URL';
  throw new SvcError('bad_answer', `the store address in the service's answer ${what}`, {
    hint: 'Check the base URL; addresses must be https. Nothing was sent.',
  });
}

/** Whether a PUT there must name the blob type: a shared-access signature has `sv` and `sig` in its query. */
export function isAzureType(url: URL): boolean {
  return url.searchParams.has('sv') && url.searchParams.has('sig');
}
