import { REQUEST_COLUMNS } from '../../schema/account-updater-files.ts';
import { cardToken, DEFAULT_SEED, originOfToken } from '../seed/logs.ts';
import { memoized, NAMESPACE, uuidOf } from '../seed/random.ts';
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
} from '../seed/test-cards.ts';

/**
 * Returns the card tokens of a sandbox with this seed, one for each test card, with the result of an Account Updater job. The
 * network is empty for a network without 3-D Secure; the code is empty if results leave out the row.
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

/** Returns a request file that leads to every result code: a row for each test card, and a row with an unknown token. */
export function exampleRequestFile(seed: number = DEFAULT_SEED): string {
  const rows = sandboxCards(seed).map(
    ({ token, expiration_year, expiration_month }) => `${token},${expiration_year.slice(2)},${expiration_month},`,
  );
  const unknown = `${cardToken(seed, TEST_CARDS.length)},27,01,`;
  return [REQUEST_COLUMNS.join(','), ...rows, unknown, ''].join('\n');
}

/** Returns the card tokens and token intents for 3-D Secure of a sandbox with this seed, one for each test card. */
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

/** Masks a card number except for its first six and last four digits. */
export function maskedNumber(firstSix: string, lastFour: string, length: number): string {
  return firstSix + '*'.repeat(length - 10) + lastFour;
}

/** The card behind a token. */
export interface Card {
  /** The card network; empty if unknown. */
  readonly network: string;
  readonly lastFour: string;
  /** 2 digits. */
  readonly month?: string | undefined;
  /** 4 digits. */
  readonly year?: string | undefined;
  /** The card's scenario in 3-D Secure. The Account Updater may treat the same number differently. */
  readonly scenario: ScenarioName;
  /** The update that the Account Updater reports, if any. */
  readonly update?: TestCard | undefined;
  /** Position of `update` in the test cards of the Account Updater; 0 without one. */
  readonly updaterCard: number;
  /** Whether a job created the token; such a card has no further update. */
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

/** Returns the positions of a number among the test cards of each feature. */
export function positionsOfNumber(number: string): { updaterCard?: number; threeDsCard?: number } {
  const updaterCard = TEST_CARDS.findIndex((card) => card.number === number);
  const threeDsCard = THREE_DS_CARDS.findIndex((card) => card.number === number);
  return { ...(updaterCard >= 0 && { updaterCard }), ...(threeDsCard >= 0 && { threeDsCard }) };
}

// Computed once, since a request file may look up cards hundreds of thousands of times.
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

const threeDsPositions = memoized((seed: number) => {
  const cards = sandboxThreeDsCards(seed);
  return {
    tokens: new Map(cards.map(({ token }, index) => [token, index])),
    intents: new Map(cards.map(({ token_intent }, index) => [token_intent, index])),
  };
});
