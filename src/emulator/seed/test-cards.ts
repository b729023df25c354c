import { RESULT_CODES } from '../../schema/account-updater-files.ts';
import type { AuthenticationStatus } from '../../schema/three-ds/values.ts';
import { text as updaterCards } from './account-updater-cards.csv';
import { text as threeDsCards } from './three-ds-cards.csv';

export interface Network {
  /** The registered application provider identifier, with which SDKs name a network's directory server. */
  readonly directoryServer: string;
  /** Electronic commerce indicators. */
  readonly eci: { readonly authenticated: string; readonly attempted: string; readonly none: string };
  /** The indicator of an authentication for information only. */
  readonly dataOnly: string;
}

const USUAL = { authenticated: '05', attempted: '06', none: '07' };

/** The networks that take part in 3-D Secure, by name. */
export const NETWORKS: Readonly<Record<string, Network>> = {
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

/** Returns the indicator for a status; undefined while a challenge is open. */
export function eciOf({ eci, dataOnly }: Network, status: AuthenticationStatus): string | undefined {
  if (status === 'challenge' || status === 'decoupled_challenge') return undefined;
  if (status === 'informational') return dataOnly;
  if (status === 'successful') return eci.authenticated;
  return status === 'attempted' ? eci.attempted : eci.none;
}

/** Returns the network of a card number by its first digits; empty if unknown. */
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

export interface Scenario {
  /** The final status; after a challenge, the status if the cardholder completes the challenge. */
  readonly ends: Exclude<AuthenticationStatus, 'challenge' | 'decoupled_challenge' | 'informational'>;
  readonly challenge?: 'dynamic' | 'out-of-band';
  /** Whether the issuer insists on the challenge. */
  readonly mandated?: boolean;
  /** Set if the issuer does not request the browser's details. */
  readonly withoutMethod?: boolean;
  /** The server that fails, if the authentication has no outcome. */
  readonly breaks?: 'directory-server' | '3ds-server';
}

/** The scenarios of the service's test cards, by their published names. */
export const SCENARIOS = {
  'Successful Frictionless Authentication': { ends: 'successful' },
  'Successful Challenge Authentication': { ends: 'successful', challenge: 'dynamic' },
  'Successful Challenge Authentication - Method not Required': {
    ends: 'successful',
    challenge: 'dynamic',
    withoutMethod: true,
  },
  'Successful Mandated Challenge Authentication': { ends: 'successful', challenge: 'dynamic', mandated: true },
  'Successful Out-of-Band Challenge Authentication': { ends: 'successful', challenge: 'out-of-band' },
  'Attempted Challenge Authentication': { ends: 'attempted', challenge: 'dynamic' },
  'Authentication Attempted': { ends: 'attempted' },
  'Authentication Failed': { ends: 'failed' },
  'Authentication Unavailable': { ends: 'unavailable' },
  'Authentication Rejected': { ends: 'rejected' },
  'Failed Challenge Authentication': { ends: 'failed', challenge: 'dynamic' },
  'Failed Out of Band Challenge Authentication': { ends: 'failed', challenge: 'out-of-band' },
  'Unavailable Challenge Authentication': { ends: 'unavailable', challenge: 'dynamic' },
  'Rejected Challenge Authentication': { ends: 'rejected', challenge: 'dynamic' },
  '3DS Directory Server Error': { ends: 'unavailable', breaks: 'directory-server' },
  'Internal 3DS Server Error': { ends: 'unavailable', breaks: '3ds-server' },
} as const satisfies Readonly<Record<string, Scenario>>;

export type ScenarioName = keyof typeof SCENARIOS;

/** The scenario of cards that are not test cards of 3-D Secure. */
export const ORDINARY: ScenarioName = 'Successful Frictionless Authentication';

export function scenarioOf(name: ScenarioName): Scenario {
  return SCENARIOS[name];
}

export type CardUpdate = Partial<Pick<TestCard, 'code' | 'newNumber' | 'newMonth' | 'newYear'>>;

/** Whether an update creates a new token. A conversion to another brand may change nothing on the card. */
export function yieldsToken({ code, newNumber, newYear }: CardUpdate = {}): boolean {
  const changed = newNumber !== undefined || newYear !== undefined;
  return code === 'UPD_CORRECTED' || (code?.startsWith('UPD_') === true && changed);
}

export type TestCard = (typeof TEST_CARDS)[number];

/**
 * The service's published test cards of the Account Updater, in published order, with the reported updates. Append only,
 * because a card's position decides its token id. Months have 2 digits, years 4. The network is empty for a network without
 * 3-D Secure. A card without a code has no update, and results leave out its row.
 */
export const TEST_CARDS = csvCells(updaterCards).map(
  ([number = '', month = '', year = '', network = '', code, newNumber, newMonth, newYear]) => ({
    number,
    month,
    year,
    network,
    code: RESULT_CODES.find((known) => known === code),
    newNumber: newNumber || undefined,
    newMonth: newMonth || undefined,
    newYear: newYear || undefined,
  }),
);

/** The result codes in `MONTH_CARDS`, by row. */
const MONTH_CODES: Readonly<Record<number, string>> = {
  6: 'UPD_PAN',
  12: 'WRN_CLOSED_ACCOUNT',
  19: 'UPD_EXP_DATE',
  28: 'ERR_INVALID_PAN',
  35: 'UPD_PAN',
  43: 'WRN_CONTACT_CARDHOLDER',
};

/**
 * The cards of an ordinary month, as positions in `TEST_CARDS`: most have no update, and one in fifty has an error. Append
 * only, because a card's row decides its token id.
 */
export const MONTH_CARDS = Array.from({ length: 50 }, (_, row) =>
  TEST_CARDS.findIndex(({ code }) => code === MONTH_CODES[row]),
);

/** The service's published test cards of 3-D Secure, with the scenario of each. */
export const THREE_DS_CARDS = csvCells(threeDsCards).map(([number = '', network = '', scenario = '']) => {
  if (!isScenario(scenario)) throw new Error('a test card has an unknown scenario');
  return { number, network, scenario };
});

function isScenario(name: string): name is ScenarioName {
  return Object.hasOwn(SCENARIOS, name);
}

function csvCells(csv: string): string[][] {
  return csv
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
}
