// The TLS options of connections.

import tls, { type SecureContext } from 'node:tls';
import { SvcError } from '../../base/errors.ts';
import type { Environment } from '../../base/system.ts';

/** The functions that Node has since 22.15; older versions are supported too. */
interface SystemStore {
  readonly getCACertificates?: (type: 'default' | 'system') => string[];
}

/** The certificate by which a client shows a server who it is, with its key; both in PEM form. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** The authorities do not change during a command, and reading them takes a while. */
let withSystem: SecureContext | undefined;

/**
 * Returns TLS options that trust this system's certificate authorities beside Node's own, if the environment selects
 * them, and that show the server a client certificate, if one is given. Certificates of servers are always checked.
 * @throws SvcError `config` if this version of Node cannot read the system's authorities
 */
export function tlsOptions(
  environment: Environment,
  certificate?: ClientCertificate,
): { secureContext?: SecureContext } {
  const read = environment['SVC_CERTIFICATES'] === 'system' ? requireSystemStore() : undefined;
  const open = (more: Partial<ClientCertificate>): SecureContext =>
    tls.createSecureContext({ ...(read && { ca: [...read('default'), ...read('system')] }), ...more });
  if (certificate !== undefined) return { secureContext: open(certificate) };
  return read === undefined ? {} : { secureContext: (withSystem ??= open({})) };
}

/** Returns the function that reads authorities. @throws SvcError `config` if this version of Node has none */
export function requireSystemStore(): (type: 'default' | 'system') => string[] {
  const { getCACertificates } = tls as SystemStore;
  if (getCACertificates !== undefined) return getCACertificates;
  throw new SvcError('config', "this version of Node cannot read the system's certificate authorities", {
    hint: "Use Node 22.15 or later, or svc's standalone executable; or name a file of certificates in NODE_EXTRA_CA_CERTS, and run:",
    next: ['profile', 'set', 'certificates', '--unset'],
  });
}
