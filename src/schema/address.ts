// What can be said of an address without a request.

const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|1?\d?\d)`;
const LOOPBACK = new RegExp(String.raw`^(?:localhost|\[::1\]|127(?:\.${OCTET}){3})$`, 'i');

/** Whether the host of an address is this machine: exactly localhost, 127.0.0.0/8 or [::1]. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host === '::1' ? '[::1]' : host);
}

/** The headers that show where a request comes from, as Node has them. */
export interface RequestHeaders {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly 'sec-fetch-site'?: string | string[] | undefined;
}

/**
 * Whether a request was sent to this machine under a name of its own or one that is allowed. A page in a browser can
 * give any name of its own this machine's address, and then read the response; the Host header shows that.
 */
export function isForThisMachine({ host = '' }: RequestHeaders, allowed: readonly string[] = []): boolean {
  return isOwnName(host.replace(/:\d{1,5}$/, ''), allowed);
}

/** Whether a page of another site sent the request, which any page in a browser on this machine can do. */
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

/** Whether the address may be spoken to: https anywhere, plain http on this machine only (R04). */
export function isSafeAddress(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
}

/** Scheme, host and port: what may be shown of an address. */
export function displayHost(url: URL): string {
  return `${url.protocol}//${url.host}`;
}

/** Reads an address without ever echoing it, as Node's own error would; undefined when it is none. */
export function readAddress(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** A percent-encoded text, decoded; undefined where a % begins no encoded character. */
export function decodedUri(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
