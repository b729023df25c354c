/** Which addresses may be spoken to: https anywhere, plain http on this machine only (R04). */

/** Whether the host is this machine: localhost, 127.0.0.0/8 or [::1]. */
export function isLoopback(url: URL): boolean {
  const host = url.hostname.toLowerCase();
  return (
    host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
  );
}

/** Whether the address is encrypted, or stays on this machine. */
export function isSafeAddress(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
}

/** Scheme, host and port: what may be shown of an address. */
export function shownHost(url: URL): string {
  return `${url.protocol}//${url.host}`;
}

/** Reads an address without ever echoing it, as Node's own error would; undefined when it is none. */
export function readAddress(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
