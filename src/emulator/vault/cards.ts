import { REQUEST_COLUMNS } from '../../schema/account-updater-files.ts';
import { cardToken, DEFAULT_SEED, originOfToken } from '../seed/logs.ts';
import { kept, NAMESPACE, uuidOf } from '../seed/random.ts';
import type { EventOf } from '../state/events.ts';
import { jobStatus, type World } from '../state/world.ts';
import {
  networkOf,
  ORDINARY,
  type ScenarioName,
  TEST_CARDS,
  type TestCard,
  THREE_DS_CARDS,
  yieldsToken,
} from './test-cards.ts';

/**
 * The card tokens that a sandbox of this seed holds, one for each test card, and what an Account Updater job reports of
 * it: the network is empty where it takes no part, the code where the row is left out of the result.
 */
export function sandboxCards(seed: number = DEFAULT_SEED) {
  return TEST_CARDS.map((card, index) => ({
    token: cardToken(seed, index),
    network: card.network,
    number: masked(card.number),
    expiration_month: card.month,
    expiration_year: card.year,
    result_code: card.code ?? '',
    new_token: yieldsToken(card),
  }));
}

/** A request file with every result code: one row for each test card, and a token that the vault does not hold. */
export function exampleRequestFile(seed: number = DEFAULT_SEED): string {
  const rows = sandboxCards(seed).map(
    ({ token, expiration_year, expiration_month }) => `${token},${expiration_year.slice(2)},${expiration_month},`,
  );
  const unknown = `${cardToken(seed, TEST_CARDS.length)},27,01,`;
  return [REQUEST_COLUMNS.join(','), ...rows, unknown, ''].join('\n');
}

/** The card tokens and token intents for 3-D Secure that a sandbox of this seed holds, one for each test card. */
export function sandboxThreeDsCards(seed: number = DEFAULT_SEED) {
  return THREE_DS_CARDS.map(({ number, network, scenario }, index) => ({
    token: uuidOf(seed, NAMESPACE.threeDsCard, index),
    token_intent: uuidOf(seed, NAMESPACE.tokenIntent, index),
    network,
    number: masked(number),
    scenario,
  }));
}

export type SandboxThreeDsCard = ReturnType<typeof sandboxThreeDsCards>[number];

function masked(number: string): string {
  return maskedNumber(number.slice(0, 6), number.slice(-4), number.length);
}

/** A card number of which only the first six and the last four digits are shown. */
export function maskedNumber(firstSix: string, lastFour: string, length: number): string {
  return firstSix + '*'.repeat(length - 10) + lastFour;
}

/** What the sandbox needs to know of the card behind a token. */
export interface Card {
  /** Empty for an unknown one. */
  readonly network: string;
  readonly lastFour: string;
  /** 2 digits. */
  readonly month?: string | undefined;
  /** 4 digits. */
  readonly year?: string | undefined;
  /** How 3-D Secure treats it. The same number can mean something else to the Account Updater. */
  readonly scenario: ScenarioName;
  /** What the Account Updater reports of it, if anything. */
  readonly update?: TestCard | undefined;
  /** Position of `update` in the test cards of the Account Updater; 0 without one. */
  readonly updaterCard: number;
  /** Whether a job created the token: there is no further update of such a card. */
  readonly refreshed: boolean;
}

/** Finds the card behind a token at a time. A token that a job creates exists once the job is completed. */
export function findCard(world: World, token: string, at: number): Card | undefined {
  const { seed } = world.start;
  const origin = originOfToken(seed, token);
  if (origin?.kind === 'seeded') return SEEDED[origin.index];
  if (origin !== undefined) {
    const job = world.jobs.all[origin.job - 1];
    return job !== undefined && jobStatus(job, at) === 'completed' ? REFRESHED[origin.index] : undefined;
  }
  const index = threeDsPositions(seed).tokens.get(token);
  if (index !== undefined) return threeDsCard(index);
  const created = world.tokens.find(token)?.created;
  return created !== undefined && created.at <= at ? newCard(created) : undefined;
}

export function findIntentCard(world: World, intent: string): Card | undefined {
  const index = threeDsPositions(world.start.seed).intents.get(intent);
  return index === undefined ? undefined : threeDsCard(index);
}

/** The position of a number in the test cards of each feature. */
export function positionsOfNumber(number: string): { updaterCard?: number; threeDsCard?: number } {
  const updaterCard = TEST_CARDS.findIndex((card) => card.number === number);
  const threeDsCard = THREE_DS_CARDS.findIndex((card) => card.number === number);
  return { ...(updaterCard >= 0 && { updaterCard }), ...(threeDsCard >= 0 && { threeDsCard }) };
}

// Computed once: a request file looks them up hundreds of thousands of times.
const SEEDED = TEST_CARDS.map((card, index) => updaterCard(card, index, false));
const REFRESHED = TEST_CARDS.map((card, index) => updaterCard(card, index, true));

function updaterCard(card: TestCard, index: number, refreshed: boolean): Card {
  const number = refreshed ? (card.newNumber ?? card.number) : card.number;
  const scenario = THREE_DS_CARDS.find((other) => other.number === number)?.scenario ?? ORDINARY;
  return { ...card, lastFour: number.slice(-4), scenario, update: card, updaterCard: index, refreshed };
}

function threeDsCard(index: number): Card | undefined {
  const card = THREE_DS_CARDS[index];
  if (card === undefined) return undefined;
  const { number, network, scenario } = card;
  const update = updateAt(positionsOfNumber(number).updaterCard);
  return { network, scenario, lastFour: number.slice(-4), month: '12', year: '2030', ...update, refreshed: false };
}

function newCard({ firstSix, lastFour, month, year, updaterCard, threeDsCard }: EventOf<'token'>): Card {
  const scenario = THREE_DS_CARDS[threeDsCard ?? -1]?.scenario ?? ORDINARY;
  const update = updateAt(updaterCard);
  return { network: networkOf(firstSix), scenario, lastFour, month, year, ...update, refreshed: false };
}

function updateAt(index: number | undefined): Pick<Card, 'update' | 'updaterCard'> {
  return { update: TEST_CARDS[index ?? -1], updaterCard: index ?? 0 };
}

const threeDsPositions = kept((seed: number) => {
  const cards = sandboxThreeDsCards(seed);
  return {
    tokens: new Map(cards.map(({ token }, index) => [token, index])),
    intents: new Map(cards.map(({ token_intent }, index) => [token_intent, index])),
  };
});
