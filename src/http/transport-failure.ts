/** Where an exchange stood when it failed. */
export type Stage = 'connect' | 'send' | 'headers' | 'body';

/** What went wrong, as far as it can be told from this side. */
export type FailureType =
  | 'timeout'
  | 'refused'
  | 'reset'
  | 'dns'
  | 'tls'
  | 'proxy'
  | 'proxy_refused'
  | 'malformed'
  | 'unreachable';

/** No usable answer came. `sent` tells whether any byte of the request may have reached the other side. */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';
  readonly kind: FailureType;
  readonly stage: Stage;
  readonly sent: boolean;
  /** The system's or library's own short code, such as ECONNRESET. */
  readonly systemCode: string | undefined;

  constructor(kind: FailureType, stage: Stage, message: string, systemCode?: string) {
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
  const code = systemCodeOf(error);
  const kind = isSenseless(error) ? 'malformed' : failureTypeOf(code);
  const words = kind === 'reset' && stage === 'connect' ? 'it closed the connection at once' : WORDS[kind];
  return new TransportFailure(kind, stage, WORDS_BY_CODE[code ?? ''] ?? words, code);
}

function systemCodeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return 'cause' in error ? systemCodeOf(error.cause) : undefined;
}

const WORDS: Record<FailureType, string> = {
  timeout: 'it did not answer in time',
  refused: 'it refused the connection',
  reset: 'it closed the connection before the answer was complete',
  dns: 'its name could not be resolved',
  tls: 'its TLS certificate was not accepted',
  proxy: 'the proxy could not be used',
  proxy_refused: 'the proxy refused the connection',
  malformed: 'its answer was not valid HTTP',
  unreachable: 'it could not be reached',
};

const WORDS_BY_CODE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its TLS certificate has expired',
  CERT_NOT_YET_VALID: 'its TLS certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its TLS certificate is for another name',
  EPROTO: 'it does not speak TLS as expected',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS as expected',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'its answer was not as long as it said',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of its answer are too long',
};

const FAILURE_TYPES: Readonly<Record<string, FailureType>> = {
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

function failureTypeOf(code: string | undefined): FailureType {
  if (code === undefined) return 'unreachable';
  const known = FAILURE_TYPES[code];
  if (known) return known;
  return /CERT|TLS|SSL/.test(code) ? 'tls' : 'unreachable';
}

/** Its parser's errors have no code, and answers that nobody asked for have that of a connection that broke. */
function isSenseless(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'HTTPParserError' || /^bad (response|upgrade)$/.test(error.message);
}
