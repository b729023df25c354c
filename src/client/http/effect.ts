/** The server that a response came from: the service, its store, or something between, such as a proxy or a gateway. */
export type Origin = 'service' | 'store' | 'between';

/** How much of a request had left this machine when its exchange ended. A request without a body leaves as a whole. */
export type Share = 'none' | 'some' | 'all';

/** Whether a request took effect. */
export type Effect = 'yes' | 'no' | 'unknown';

/** What is known of a request after its exchange. */
export interface Exchanged {
  readonly method: string;
  readonly share: Share;
  /** The response; undefined if none came. */
  readonly response?: { readonly status: number; readonly origin: Origin } | undefined;
}

/** The successes that confirm a change. A 202 only accepts it, and a 206 belongs to a read. */
const CONFIRMATIONS: ReadonlySet<number> = new Set([200, 201, 203, 204]);

/** The redirects that name another address for the same request. A 303 is also the response to a finished request. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308]);

/** Returns whether a request took effect. All retries, exit codes and records of what was sent stand on it (R20, R36, R94). */
export function tookEffect({ method, share, response }: Exchanged): Effect {
  // Every body has an exact length, so that an incomplete one is neither stored nor processed.
  if (isRead(method) || share !== 'all') return 'no';
  if (response === undefined) return 'unknown';
  const { status, origin } = response;
  if (status < 300) return origin !== 'between' && CONFIRMATIONS.has(status) ? 'yes' : 'unknown';
  if (status < 400) return REDIRECTS.has(status) ? 'no' : 'unknown';
  if (status >= 500 || status === 408) return 'unknown';
  // A proxy may repeat a PUT. The store then refuses the second copy, because it has the first.
  const isAboutCopy = method === 'PUT' && origin !== 'service' && (status === 409 || status === 412);
  return isAboutCopy ? 'unknown' : 'no';
}

/** Whether a method only reads. */
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

/** Returns where a response came from. Neither the service nor a store sends web pages. */
export function originOf<Server extends Origin>(server: Server, response: ResponseText): Server | 'between' {
  return isPage(response) ? 'between' : server;
}

/** Whether a response is a web page. Some proxies confirm with that type and an empty body what a store has stored. */
export function isPage({ header, text, isCut = false }: ResponseText): boolean {
  const isEmpty = text === '' && !isCut;
  return !isEmpty && (hasPageType(header) || /^\s*<(?:!doctype\s+html|html)\b/i.test(text));
}

/** Whether a response is a web page, by its content type. */
export function hasPageType(header: ResponseText['header']): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(header('content-type') ?? '');
}
