/** Where an exchange stood when it failed. */
export type Stage = 'connect' | 'send' | 'headers' | 'body';

/** What went wrong, as far as it can be told from this side. */
export type FailureKind =
  | 'timeout'
  | 'refused'
  | 'reset'
  | 'dns'
  | 'tls'
  | 'proxy'
  | 'malformed'
  | 'unreachable';

/** No usable answer came. `sent` tells whether any byte of the request may have reached the other side. */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';
  readonly kind: FailureKind;
  readonly stage: Stage;
  readonly sent: boolean;
  /** The system's or library's own short code, such as ECONNRESET. */
  readonly systemCode: string | undefined;

  constructor(kind: FailureKind, stage: Stage, message: string, systemCode?: string) {
    super(message);
    this.kind = kind;
    this.stage = stage;
    this.sent = stage !== 'connect';
    this.systemCode = systemCode;
  }
}

/**
 * Turns whatever the HTTP library threw into a failure with plain words.
 * The original error is dropped on purpose: it can carry addresses, headers and received bytes.
 */
export function toTransportFailure(error: unknown, stage: Stage): TransportFailure {
  if (error instanceof TransportFailure) return error;
  const code = systemCode(error);
  if (messageOf(error).startsWith('Proxy response')) return proxyFailure(messageOf(error), stage);
  const kind = kindOf(code);
  return new TransportFailure(kind, stage, WORDS[kind], code);
}

const WORDS: Record<FailureKind, string> = {
  timeout: 'it did not answer in time',
  refused: 'it refused the connection',
  reset: 'it closed the connection before the answer was complete',
  dns: 'its name could not be resolved',
  tls: 'its TLS certificate was not accepted',
  proxy: 'the proxy refused the connection',
  malformed: 'its answer was not valid HTTP',
  unreachable: 'it could not be reached',
};

const KINDS: Readonly<Record<string, FailureKind>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'reset',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'malformed',
  EPROTO: 'tls',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls',
};

function kindOf(code: string | undefined): FailureKind {
  if (code === undefined) return 'unreachable';
  const known = KINDS[code];
  if (known) return known;
  if (code.startsWith('HPE_')) return 'malformed';
  return /CERT|TLS|SSL/.test(code) ? 'tls' : 'unreachable';
}

function proxyFailure(message: string, stage: Stage): TransportFailure {
  const status = /\((\d{3})\)/.exec(message)?.[1];
  const words =
    status === '407'
      ? 'the proxy asks for a user and password (407)'
      : `the proxy answered ${status ?? 'nonsense'}`;
  return new TransportFailure('proxy', stage, words);
}

function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return 'cause' in error ? systemCode(error.cause) : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
