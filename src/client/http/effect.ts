// Decides whether a request took effect, by its response and how much of it was sent.

/** The server that sent a response: the service, its store, or a server in between, such as a proxy or a gateway. */
export type Origin = 'service' | 'store' | 'between';

/** How much of a request was sent when its exchange ended. A request without a body is sent as a whole. */
export type Share = 'none' | 'some' | 'all';

export type Effect = 'yes' | 'no' | 'unknown';

export interface Exchanged {
  readonly method: string;
  readonly share: Share;
  /** The response; undefined if no response arrived. */
  readonly response?: { readonly status: number; readonly origin: Origin } | undefined;
}

/** The statuses that confirm a change. A 202 only accepts a change, and a 206 belongs to a read. */
const CONFIRMATIONS: ReadonlySet<number> = new Set([200, 201, 203, 204]);

/** The redirects of a request without effect. A 303 can also be the response to a finished request. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308]);

/** Returns whether a request took effect. Retries, exit codes and records of requests depend on this function (R20, R36, R94). */
export function tookEffect({ method, share, response }: Exchanged): Effect {
  // Every body has an exact length, so servers neither store nor process an incomplete body.
  if (isRead(method) || share !== 'all') return 'no';
  if (response === undefined) return 'unknown';
  const { status, origin } = response;
  if (status < 300) return origin !== 'between' && CONFIRMATIONS.has(status) ? 'yes' : 'unknown';
  if (status < 400) return REDIRECTS.has(status) ? 'no' : 'unknown';
  if (status >= 500 || status === 408) return 'unknown';
  // A proxy may repeat a PUT. The store then refuses the second copy, because the first copy is stored.
  const isAboutCopy = method === 'PUT' && origin !== 'service' && (status === 409 || status === 412);
  return isAboutCopy ? 'unknown' : 'no';
}

export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

interface ResponseText {
  readonly header: (name: string) => string | undefined;
  /** The beginning of the body. */
  readonly text: string;
  /** Whether the body broke off before its first byte. */
  readonly isCut?: boolean | undefined;
}

/** Returns which server sent a response. Web pages come neither from the service nor from a store. */
export function originOf<Server extends Origin>(server: Server, response: ResponseText): Server | 'between' {
  return isPage(response) ? 'between' : server;
}

/** Whether a response is a web page. Some proxies confirm a stored file with the type of a web page and an empty body. */
export function isPage({ header, text, isCut = false }: ResponseText): boolean {
  const isEmpty = text === '' && !isCut;
  return !isEmpty && (hasPageType(header) || /^\s*<(?:!doctype\s+html|html)\b/i.test(text));
}

/** Whether a response is a web page, by its content type. */
export function hasPageType(header: ResponseText['header']): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(header('content-type') ?? '');
}
