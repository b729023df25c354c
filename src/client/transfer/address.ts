// Checks the pre-signed addresses of files.

import { SvcError } from '../../base/errors.ts';
import { decodedUri, isLoopback, isSafeAddress, readAddress } from '../../schema/address.ts';

/** The client that received an address. */
export interface AddressSource {
  readonly baseUrl: URL;
  /** Redacts a value in all further output. */
  readonly addSecret: (value: string) => void;
}

/**
 * Returns a pre-signed address, which must be https, or http if store and service are both on this machine (R04). An address is a
 * secret: errors do not show addresses, and the redactor hides the values of the query in all output (R07), except the job id and what
 * is plainly no secret.
 * @throws SvcError `bad_response`
 */
export function requireStoreAddress(text: string, job: string, source: AddressSource): URL {
  const url = readAddress(text);
  const problem = url === undefined ? 'is not a URL' : problemOf(url, source.baseUrl);
  if (url === undefined || problem !== undefined)
    throw new SvcError('bad_response', `the store address in the service's response ${problem}`, {
      hint: 'Check the base URL; addresses must be https.',
    });
  for (const [, name = '', value = ''] of url.search.matchAll(/([^?&=]*)=([^&]+)/g)) {
    const decoded = decodedUri(value) ?? value;
    if (decoded === job || (PLAIN_NAME.test(decodedUri(name) ?? name) && PLAIN_VALUE.test(decoded))) continue;
    for (const form of [value, decoded]) source.addSecret(form);
  }
  return url;
}

/** A date, a word or the name of a file, which may also be in what is printed. */
const PLAIN_VALUE =
  /^(?:\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z)?|\d{8}T\d{6}Z|[a-z]{1,15}|(?:Get|Put)Object|[\w.-]{1,100}\.csv)$/;
const PLAIN_NAME =
  /^(?:x-(?:amz|goog)-date|x-id|s[eprtv]|sk[estv]|op|file(?:name)?|date|expires|response-content-[a-z]+)$/i;

function problemOf(url: URL, baseUrl: URL): string | undefined {
  if (!isSafeAddress(url)) return `has the scheme ${url.protocol.slice(0, 20)} and leaves this machine`;
  // A remote service has no store on this machine. A local program could steal the file, or fake the results.
  return isLoopback(url) && !isLoopback(baseUrl) ? 'is on this machine, and the service is not' : undefined;
}

/** The headers of uploads. An address may be signed for these only. */
const SENT_HEADERS: ReadonlySet<string> = new Set(['host', 'content-length', 'content-type']);

/** Returns the headers that an address of S3 or Google is signed for. */
export function signedHeadersOf({ searchParams }: URL): string[] {
  const signed = Array.from(searchParams).filter(([name]) => /^x-(?:amz|goog)-signedheaders$/i.test(name));
  return signed.flatMap(([, names]) => names.toLowerCase().split(';'));
}

/** Checks that an upload address is signed only for headers that svc sends. @throws SvcError `rejected` */
export function requireKnownHeaders(url: URL, job: string): void {
  const unknown = signedHeadersOf(url).filter((name) => !SENT_HEADERS.has(name));
  if (unknown.length === 0) return;
  const names = unknown.map((name) => (/^[a-z0-9-]{1,64}$/.test(name) ? name : '(another)')).join(', ');
  throw new SvcError(
    'rejected',
    `the upload address of job ${job} is signed for headers that svc does not send: ${names}`,
    {
      hint: 'Nothing was uploaded. Only the service can change how it signs addresses: contact its support with the job id.',
      facts: { job, headers: unknown },
    },
  );
}

/** Whether an address is of Azure, which requires the blob type: its signatures have `sv` and `sig` in the query. */
export function isAzureAddress(url: URL): boolean {
  return url.searchParams.has('sv') && url.searchParams.has('sig');
}
