import { isSafeAddress, readAddress, shownHost } from '../address.ts';
import { SvcError } from '../errors.ts';

/** Reads an address that events may go to: https, or http on this machine. @throws SvcError `usage`, without the address */
export function parseTarget(text: string): URL {
  const url = readAddress(text);
  const problem = url === undefined ? 'must be an absolute URL' : problemOf(url);
  if (url === undefined || problem !== undefined)
    throw new SvcError('usage', problem ?? '', {
      hint: 'Give an address such as http://localhost:3000/webhooks.',
    });
  return url;
}

/** What may be shown of a target: that it has a query, and not which. */
export function shownTarget(url: URL): string {
  return shownHost(url) + (url.pathname === '/' ? '' : url.pathname) + (url.search === '' ? '' : '?…');
}

function problemOf(url: URL): string | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an https or http address';
  if (!isSafeAddress(url)) return 'must be https: only https may leave this machine';
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  return undefined;
}
