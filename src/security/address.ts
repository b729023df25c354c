import { isLoopbackHost } from '../schema/loopback.ts';

/** Which addresses may be spoken to: https anywhere, plain http on this machine only (R04). */

/** Whether the host of an address is this machine. */
export function isLoopback(url: URL): boolean {
  return isLoopbackHost(url.hostname);
}

/** Whether the address is encrypted, or stays on this machine. */
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
