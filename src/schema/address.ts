// Checks of addresses that need no request.

const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|1?\d?\d)`;
const LOOPBACK = new RegExp(String.raw`^(?:localhost|\[::1\]|127(?:\.${OCTET}){3})$`, 'i');

/** Whether a host is this machine: exactly localhost, 127.0.0.0/8 or [::1]. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host === '::1' ? '[::1]' : host);
}

/** The headers that show the origin of a request, in Node's form. */
export interface RequestHeaders {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly 'sec-fetch-site'?: string | string[] | undefined;
}

/**
 * Whether the Host header names this machine or an allowed host. Any other host may be a web page that points its own host name
 * to this machine in order to read responses (DNS rebinding).
 */
export function isForThisMachine({ host = '' }: RequestHeaders, allowed: readonly string[] = []): boolean {
  return isOwnName(host.replace(/:\d{1,5}$/, ''), allowed);
}

/** Whether a page of another site sent the request, as any web page in a browser on this machine could. */
export function isCrossSite(headers: RequestHeaders, allowed: readonly string[] = []): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  if (site === 'cross-site') return true;
  return origin !== undefined && !isOwnName(/^https?:\/\/(.*?)(?::\d{1,5})?$/i.exec(origin)?.[1] ?? '', allowed);
}

function isOwnName(name: string, allowed: readonly string[]): boolean {
  return isLoopbackHost(name) || allowed.some((other) => other.toLowerCase() === name.toLowerCase());
}

/** Whether the host of an address is this machine. */
export function isLoopback(url: URL): boolean {
  return isLoopbackHost(url.hostname);
}

/** Whether requests to the address are allowed: https anywhere, plain http on this machine only (R04). */
export function isSafeAddress(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
}

/** Returns scheme, host and port, the parts of an address that may be shown. */
export function displayHost(url: URL): string {
  return `${url.protocol}//${url.host}`;
}

/** Parses an address; undefined if invalid. Node's own error would print the address, which may be secret. */
export function readAddress(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** Decodes a percent-encoded text; undefined if it is malformed. */
export function decodedUri(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
