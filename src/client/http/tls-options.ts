// The TLS options of connections.

import tls, { type SecureContext } from 'node:tls';
import { SvcError } from '../../base/errors.ts';
import type { Environment } from '../../base/system.ts';

/** The function that reads certificate authorities, in Node since 22.15. */
interface SystemStore {
  readonly getCACertificates?: (type: 'default' | 'system') => string[];
}

/** A client certificate and its private key, in PEM form. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Kept for later connections, since reading the authorities of the system takes a while. */
let systemContext: SecureContext | undefined;

/**
 * Returns the TLS options of connections. SVC_CERTIFICATES=system adds the certificate authorities of this system to Node's own.
 * @throws SvcError `config` if this version of Node cannot read the system's authorities
 */
export function tlsOptions(
  environment: Environment,
  certificate?: ClientCertificate,
): { secureContext?: SecureContext } {
  const read = environment['SVC_CERTIFICATES'] === 'system' ? requireSystemStore() : undefined;
  const createContext = (): SecureContext =>
    tls.createSecureContext({ ...(read && { ca: [...read('default'), ...read('system')] }), ...certificate });
  if (certificate !== undefined) return { secureContext: createContext() };
  return read === undefined ? {} : { secureContext: (systemContext ??= createContext()) };
}

/** Returns the function that reads certificate authorities. @throws SvcError `config` if this version of Node has none */
export function requireSystemStore(): (type: 'default' | 'system') => string[] {
  const { getCACertificates } = tls as SystemStore;
  if (getCACertificates !== undefined) return getCACertificates;
  throw new SvcError('config', "this version of Node cannot read the system's certificate authorities", {
    hint: "Use Node 22.15 or later, or svc's standalone executable; or name a file of certificates in NODE_EXTRA_CA_CERTS, and run:",
    next: ['profile', 'set', 'certificates', '--unset'],
  });
}
