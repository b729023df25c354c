// The certificates of a TLS connection, in words.

import { type DetailedPeerCertificate, rootCertificates, type TLSSocket } from 'node:tls';

/** Returns the server's certificates, its own first, with the authority that issued the last one, if known. */
export function chainOf(socket: TLSSocket): DetailedPeerCertificate[] {
  const chain: DetailedPeerCertificate[] = [];
  let next: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (next?.raw !== undefined && chain.every(({ raw }) => raw !== next?.raw)) {
    chain.push(next);
    next = next.issuerCertificate;
  }
  return chain;
}

export function nameOf(name: Partial<DetailedPeerCertificate['subject']> | undefined): string {
  return [name?.CN ?? name?.O ?? name?.OU ?? 'an unnamed certificate'].flat().join(', ');
}

/** Names each certificate of a chain, and the authority that issued the last one. */
export function chainText(chain: readonly DetailedPeerCertificate[]): string {
  const names = chain.map(({ subject }) => nameOf(subject));
  const issuer = nameOf(chain.at(-1)?.issuer);
  if (names.length === 1 && names[0] === issuer) return `self-signed certificate of ${issuer}`;
  return `certificate of ${[...names, ...(names.at(-1) === issuer ? [] : [issuer])].join(', issued by ')}`;
}

/** Whether a certificate is that of a publicly known authority. */
export function isPublicAuthority({ raw }: DetailedPeerCertificate): boolean {
  const text = raw.toString('base64');
  // Comparing texts is faster: parsing all authorities would take a tenth of a second.
  return rootCertificates.some((pem) => pem.replaceAll(/-----[A-Z ]+-----|\s/g, '') === text);
}
