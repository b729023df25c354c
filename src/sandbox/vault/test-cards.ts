import { RESULT_CODES, type ResultCode } from '../../schema/account-updater-files.ts';
import { text as updaterCards } from '../data/account-updater-cards.csv';
import { text as threeDsCards } from '../data/three-ds-cards.csv';
import { type ScenarioName, SCENARIOS } from '../three-ds/outcome.ts';

/** A test card of the Account Updater, and what the card networks report of it. */
export interface TestCard {
  readonly number: string;
  /** 2 digits. */
  readonly month: string;
  /** 4 digits. */
  readonly year: string;
  /** Empty for a network that does not take part. */
  readonly network: string;
  /** Undefined for a card without an update: its row is left out of the result. */
  readonly code: ResultCode | undefined;
  readonly newNumber: string | undefined;
  readonly newMonth: string | undefined;
  readonly newYear: string | undefined;
}

/** What the card networks report of a card. */
export type CardUpdate = Partial<Pick<TestCard, 'code' | 'newNumber' | 'newMonth' | 'newYear'>>;

/** Whether an update creates a new token. A conversion to another brand may change nothing on the card. */
export function yieldsToken({ code, newNumber, newYear }: CardUpdate = {}): boolean {
  const changed = newNumber !== undefined || newYear !== undefined;
  return code === 'UPD_CORRECTED' || (code?.startsWith('UPD_') === true && changed);
}

/** A test card of 3-D Secure, and what happens when it is authenticated. */
export interface ThreeDsCard {
  readonly number: string;
  readonly network: string;
  readonly scenario: ScenarioName;
}

/** The service's published test cards, in its order. A card's position decides its token id: append only. */
export const TEST_CARDS: readonly TestCard[] = rowsOf(updaterCards).map(
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

/** As `TEST_CARDS`, for 3-D Secure. */
export const THREE_DS_CARDS: readonly ThreeDsCard[] = rowsOf(threeDsCards).map(
  ([number = '', network = '', scenario = '']) => {
    if (!isScenario(scenario)) throw new Error('a test card has an unknown scenario');
    return { number, network, scenario };
  },
);

function isScenario(name: string): name is ScenarioName {
  return Object.hasOwn(SCENARIOS, name);
}

function rowsOf(csv: string): string[][] {
  return csv
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
}
