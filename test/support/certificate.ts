import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import tls, { createServer, type SecureContextOptions } from 'node:tls';

/** A certificate and its key. */
export interface Certificate {
  readonly host: string;
  readonly cert: string;
  readonly key: string;
}

// Object identifiers in DER, without their tag and length.
const ECDSA_WITH_SHA256 = '2a8648ce3d040302';
const COMMON_NAME = '550403';
const SUBJECT_ALT_NAME = '551d11';
const BASIC_CONSTRAINTS = '551d13';

/**
 * Makes a certificate for a host name (RFC 5280), valid for the given days from yesterday, or from another day; self-signed
 * without `issuer`.
 */
export function makeCertificate(host: string, days = 2, issuer?: Certificate, from = -1): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const algorithm = sequence(oid(ECDSA_WITH_SHA256));
  const name = distinguishedName(host);
  const issuerName = issuer ? distinguishedName(issuer.host) : name;
  const start = Date.now() + from * 86_400_000;
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([issuer ? 2 : 1])),
    algorithm,
    issuerName,
    sequence(time(start), time(start + days * 86_400_000)),
    name,
    publicKey,
    der(
      0xa3,
      sequence(
        sequence(oid(BASIC_CONSTRAINTS), der(0x04, sequence(der(0x01, Buffer.from([255]))))),
        sequence(oid(SUBJECT_ALT_NAME), der(0x04, sequence(der(0x82, Buffer.from(host))))),
      ),
    ),
  );
  const signature = sign('sha256', toBeSigned, createPrivateKey(issuer?.key ?? privateKey));
  const bytes = sequence(toBeSigned, algorithm, der(0x03, Buffer.from([0]), signature));
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    host,
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
    key: privateKey,
  };
}

/** Creates a TLS server with this certificate, which sends and receives raw bytes. */
export function tlsServer({ cert, key }: Certificate): tls.Server {
  return createServer({ cert, key }).on('tlsClientError', () => undefined);
}

/** Makes this process trust the certificate, as NODE_EXTRA_CA_CERTS would, and returns a function that undoes it. */
export function trust({ cert }: Certificate): () => void {
  const original = tls.createSecureContext;
  tls.createSecureContext = (options?: SecureContextOptions) => original({ ...options, ca: cert });
  return () => {
    tls.createSecureContext = original;
  };
}

function distinguishedName(host: string): Buffer {
  return sequence(der(0x31, sequence(oid(COMMON_NAME), der(0x0c, Buffer.from(host)))));
}

function der(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const length =
    body.length < 128
      ? [body.length]
      : body.length < 256
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

function sequence(...content: readonly Buffer[]): Buffer {
  return der(0x30, ...content);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\D/g, '');
  return der(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
}
