// Says why an exchange brought no usable response, and what to do about it.

import { type ErrorDetails, localFailure, SvcError } from '../../base/errors.ts';
import { ownMember } from '../../schema/own-member.ts';

export type Stage = 'connect' | 'send' | 'body';

export type FailureKind =
  | 'timeout'
  | 'refused'
  | 'reset'
  | 'dns'
  | 'tls'
  | 'proxy'
  | 'proxy_refused'
  | 'malformed'
  | 'unreachable';

/** The failure of an exchange without a usable response. `sent` says whether the server may have received any byte. */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';
  readonly kind: FailureKind;
  readonly stage: Stage;
  readonly sent: boolean;
  /** The short code of the system or library, such as ECONNRESET. */
  readonly systemCode: string | undefined;

  constructor(kind: FailureKind, stage: Stage, message: string, systemCode?: string) {
    super(message);
    this.kind = kind;
    this.stage = stage;
    this.sent = stage !== 'connect';
    this.systemCode = systemCode;
  }

  /**
   * Returns the error of a command for this failure, which begins with `what`. `advice` is for failures that neither TLS nor a
   * proxy caused.
   */
  toError(what: string, advice: Pick<ErrorDetails, 'hint' | 'next'>): SvcError {
    const { kind, systemCode, message } = this;
    return new SvcError('network', `${what}: ${message}`, {
      ...(kind === 'tls' ? { hint: tlsHint(systemCode) } : kind.startsWith('proxy') ? { hint: PROXY } : advice),
      retryable: kind !== 'tls' && kind !== 'proxy_refused',
      facts: systemCode === undefined ? undefined : { system_code: systemCode },
    });
  }
}

const PROXY = 'Check the proxy variable, its user and password, or add the host to NO_PROXY.';

/**
 * Returns why an exchange failed. An error with a code of undici or the system is the failure of a server or the network, unless
 * undici refused the request; any other error is a failure of this machine.
 */
export function exchangeFailure(error: unknown, stage: Stage): TransportFailure | SvcError {
  if (error instanceof SvcError) return error;
  if (error instanceof TransportFailure || isMalformed(error)) return toTransportFailure(error, stage);
  const code = systemCodeOf(error);
  // undici refused the request itself, such as for a header with a line break.
  if (code === undefined || code === 'UND_ERR_INVALID_ARG') return localFailure(error);
  return toTransportFailure(error, stage);
}

/**
 * Explains an error of the HTTP library. Drops the original error, which may contain addresses, headers and received
 * bytes.
 */
export function toTransportFailure(error: unknown, stage: Stage): TransportFailure {
  if (error instanceof TransportFailure) return error;
  const code = systemCodeOf(error);
  const [known = kindOf(code), words, , effect] = ownMember(MEANINGS, code ?? '') ?? [];
  const kind = isMalformed(error) ? 'malformed' : known;
  const usual = kind === 'reset' && stage === 'connect' ? 'it closed the connection at once' : WORDS[kind];
  return new TransportFailure(kind, effect === 'unread' ? 'connect' : stage, words ?? usual, code);
}

function kindOf(code = ''): FailureKind {
  return /CERT|TLS|SSL/.test(code) ? 'tls' : 'unreachable';
}

function systemCodeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  // Newer OpenSSL gives some alerts another name.
  if ('code' in error && typeof error.code === 'string') return error.code.replace('_SSL/TLS_ALERT_', '_SSLV3_ALERT_');
  return 'cause' in error ? systemCodeOf(error.cause) : undefined;
}

/** Whether undici could not parse a response. Such errors have no code, or the code of a broken connection. */
function isMalformed(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'HTTPParserError' || /^bad (response|upgrade)$/.test(error.message);
}

/** Returns the hint for a TLS connection that failed with this code. */
export function tlsHint(systemCode: string | undefined): string {
  return ownMember(MEANINGS, systemCode ?? '')?.[2] ?? TRUST;
}

const WORDS: Record<FailureKind, string> = {
  timeout: 'it did not respond in time',
  refused: 'it refused the connection',
  reset: 'it closed the connection before the response was complete',
  dns: 'its name could not be resolved',
  tls: 'its TLS certificate was not accepted',
  proxy: 'the proxy could not be used',
  proxy_refused: 'the proxy refused the connection',
  malformed: 'its response was not valid HTTP',
  unreachable: 'it could not be reached',
};

const TRUST =
  'If your network inspects TLS, trust its authority: set SVC_CERTIFICATES=system, or name a file in NODE_EXTRA_CA_CERTS.';
const CLOCK =
  "Compare this machine's clock with the right time. If it is right, whoever runs the server must renew its certificate.";

export const CLIENT_CERTIFICATE_HINT =
  'Set SVC_CLIENT_CERT and SVC_CLIENT_KEY, or client_cert and client_key of the profile, to the files that you were given. They are for the host of the base URL only, never for a store.';

/**
 * Returns the hint for a request to a server that may require a client certificate. With TLS 1.3, a server refuses the certificate
 * after the handshake, and some servers then close the connection without a reason.
 */
export function hintToServer(hint: string, { kind, stage }: TransportFailure, { protocol }: URL): string {
  if (protocol !== 'https:' || kind !== 'reset' || stage !== 'send') return hint;
  return `${hint} If this happens every time, the server may require a client certificate, or another one. ${CLIENT_CERTIFICATE_HINT}`;
}

/** The meaning of an error code. `unread` means that the server has not read the request, even if the request was sent. */
type Meaning = readonly [kind: FailureKind, words?: string, hint?: string, effect?: 'unread'];

const UNTRUSTED: Meaning = ['tls', 'its TLS certificate is signed by an authority that this machine does not trust'];
const OLD_TLS: Meaning = [
  'tls',
  'it only offers versions of TLS that are too old (1.1 or earlier)',
  'Whoever runs the server, or a proxy before it, must enable TLS 1.2 or later.',
];
const NO_TLS: Meaning = ['tls', 'it does not speak TLS as expected'];
const REFUSED_CERTIFICATE: Meaning = [
  'tls',
  'it did not accept the client certificate',
  CLIENT_CERTIFICATE_HINT,
  'unread',
];

const MEANINGS: Readonly<Record<string, Meaning>> = {
  ECONNREFUSED: ['refused'],
  ECONNRESET: ['reset'],
  EPIPE: ['reset'],
  UND_ERR_SOCKET: ['reset'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['reset', 'its response was shorter or longer than announced'],
  ENOTFOUND: ['dns'],
  EAI_AGAIN: ['dns'],
  ETIMEDOUT: ['timeout'],
  UND_ERR_CONNECT_TIMEOUT: ['timeout'],
  UND_ERR_HEADERS_TIMEOUT: ['timeout'],
  UND_ERR_BODY_TIMEOUT: ['timeout'],
  UND_ERR_HEADERS_OVERFLOW: ['malformed', 'the headers of its response are too long'],
  CERT_HAS_EXPIRED: ['tls', "its TLS certificate has expired, or this machine's clock is ahead", CLOCK],
  CERT_NOT_YET_VALID: ['tls', "its TLS certificate is not valid yet, or this machine's clock is behind", CLOCK],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'tls',
    'its TLS certificate is for another name',
    'Check the host in the address: the server at this address has another name.',
  ],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['tls', 'its TLS certificate is signed by itself, not by an authority'],
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [
    'tls',
    'its TLS certificate came without the intermediate certificate that signed it, or from an unknown authority',
    `Whoever runs the server should send its whole chain of certificates. ${TRUST}`,
  ],
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: OLD_TLS,
  ERR_SSL_UNSUPPORTED_PROTOCOL: OLD_TLS,
  EPROTO: NO_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: [
    'tls',
    'it refused the TLS handshake, and may require a client certificate',
    CLIENT_CERTIFICATE_HINT,
  ],
  // With TLS 1.3, the alerts about a client certificate arrive after the request was sent.
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: [
    'tls',
    'it requires a client certificate',
    CLIENT_CERTIFICATE_HINT,
    'unread',
  ],
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: REFUSED_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: REFUSED_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE: REFUSED_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED: REFUSED_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: REFUSED_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: REFUSED_CERTIFICATE,
};
