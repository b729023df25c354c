import type { AuthenticationStatus } from '../../schema/three-ds/values.ts';

/** A card network as 3-D Secure knows it. */
export interface Network {
  /** The registered application provider identifier: how SDKs name a network's directory server. */
  readonly directoryServer: string;
  /** Electronic commerce indicators. */
  readonly eci: { readonly authenticated: string; readonly attempted: string; readonly none: string };
  /** The indicator of a message for information only. */
  readonly dataOnly: string;
}

const USUAL = { authenticated: '05', attempted: '06', none: '07' };

const NETWORKS: Readonly<Record<string, Network>> = {
  visa: { directoryServer: 'A000000003', eci: USUAL, dataOnly: '07' },
  mastercard: {
    directoryServer: 'A000000004',
    eci: { authenticated: '02', attempted: '01', none: '00' },
    dataOnly: '04',
  },
  amex: { directoryServer: 'A000000025', eci: USUAL, dataOnly: '07' },
  discover: { directoryServer: 'A000000152', eci: USUAL, dataOnly: '07' },
  jcb: { directoryServer: 'A000000065', eci: USUAL, dataOnly: '07' },
};

/** Finds a network by its name; undefined for one that takes no part in 3-D Secure. */
export function findNetwork(name: string): Network | undefined {
  return NETWORKS[name];
}

/** The indicator that goes with an outcome; undefined while there is none. */
export function eciOf(network: Network, status: AuthenticationStatus): string | undefined {
  switch (status) {
    case 'challenge':
    case 'decoupled_challenge':
      return undefined;
    case 'informational':
      return network.dataOnly;
    case 'successful':
      return network.eci.authenticated;
    case 'attempted':
      return network.eci.attempted;
    case 'failed':
    case 'unavailable':
    case 'rejected':
      return network.eci.none;
  }
}

/** The network that a card number of these first digits belongs to; empty for one that is not known. */
export function networkOf(number: string): string {
  return RANGES.find(([pattern]) => pattern.test(number))?.[1] ?? '';
}

const RANGES: readonly (readonly [RegExp, string])[] = [
  [/^4/, 'visa'],
  [/^(5[1-5]|2(22[1-9]|2[3-9]|[3-6]|7[01]|720))/, 'mastercard'],
  [/^3[47]/, 'amex'],
  [/^(6011|64[4-9]|65)/, 'discover'],
  [/^35(2[89]|[3-8])/, 'jcb'],
];
