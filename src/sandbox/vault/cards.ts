import { REQUEST_COLUMNS } from '../../schema/account-updater-files.ts';
import { yieldsToken } from '../account-updater/process-file.ts';
import { cardToken, DEFAULT_SEED, originOfToken } from '../seed/entities.ts';
import { NAMESPACE, uuidOf } from '../seed/random.ts';
import { jobStatus } from '../state/events.ts';
import type { TokenEvent, World } from '../state/world.ts';
import { networkOf, ORDINARY, type ScenarioName } from '../three-ds/networks.ts';
import { TEST_CARDS, type TestCard, THREE_DS_CARDS } from './test-cards.ts';

/** A card token of the sandbox, and what an Account Updater job says of it. */
export interface SandboxCard {
  readonly token: string;
  /** Empty for a network that takes no part. */
  readonly network: string;
  /** First six and last four digits, the rest hidden. */
  readonly number: string;
  /** 2 digits. */
  readonly expiration_month: string;
  /** 4 digits. */
  readonly expiration_year: string;
  /** Empty for a card whose row is left out of the result. */
  readonly result_code: string;
  /** Whether the result names a new token. */
  readonly new_token: boolean;
}

/** The card tokens that a sandbox of this seed holds, one a test card. */
export function sandboxCards(seed: number = DEFAULT_SEED): SandboxCard[] {
  return TEST_CARDS.map((card, index) => ({
    token: cardToken(seed, index),
    network: card.network,
    number: maskedNumber(card.number.slice(0, 6), card.number.slice(-4), card.number.length),
    expiration_month: card.month,
    expiration_year: card.year,
    result_code: card.code ?? '',
    new_token: yieldsToken(card),
  }));
}

/** A request file with one row a test card, as `svc au submit` takes it. */
export function exampleRequestFile(seed: number = DEFAULT_SEED): string {
  const rows = sandboxCards(seed).map(
    ({ token, expiration_year, expiration_month }) =>
      `${token},${expiration_year.slice(2)},${expiration_month},`,
  );
  return [REQUEST_COLUMNS.join(','), ...rows, ''].join('\n');
}

/** The card behind a token, as far as the sandbox's features need to know it. */
export interface Card {
  /** Empty for one that is not known. */
  readonly network: string;
  readonly lastFour: string;
  /** 2 digits. */
  readonly month?: string | undefined;
  /** 4 digits. */
  readonly year?: string | undefined;
  /** What 3-D Secure makes of it. The same number can mean another thing to the Account Updater. */
  readonly scenario: ScenarioName;
  /** What the Account Updater makes of it; absent for a card without any news. */
  readonly news?: TestCard | undefined;
  /** Place of `news` in the test cards of the Account Updater; 0 for a card without any. */
  readonly updaterCard: number;
  /** Whether a job made the token. */
  readonly refreshed: boolean;
}

/** Finds the card behind a token at a time. A token that a job makes is there once the job is completed. */
export function findCard(world: World, token: string, at: number): Card | undefined {
  const { seed } = world.start;
  const origin = originOfToken(seed, token);
  if (origin !== undefined) {
    if (origin.kind === 'seeded') return SEEDED[origin.index];
    const maker = world.jobs[origin.job - 1];
    const isMade = maker !== undefined && jobStatus(maker, at) === 'completed';
    return isMade ? REFRESHED[origin.index] : undefined;
  }
  const place = threeDsCardOfToken(seed, token);
  if (place !== undefined) return threeDsCard(place);
  const made = world.tokens.find(token)?.created;
  return made !== undefined && made.at <= at ? newCard(made) : undefined;
}

/** Finds the card behind a token intent. */
export function findIntentCard(world: World, intent: string): Card | undefined {
  const place = threeDsCardOfIntent(world.start.seed, intent);
  return place === undefined ? undefined : threeDsCard(place);
}

/** The place of a number in the test cards of each feature. */
export function positionsOfNumber(number: string): { updaterCard?: number; threeDsCard?: number } {
  const updaterCard = TEST_CARDS.findIndex((card) => card.number === number);
  const threeDsCard = THREE_DS_CARDS.findIndex((card) => card.number === number);
  return { ...(updaterCard >= 0 && { updaterCard }), ...(threeDsCard >= 0 && { threeDsCard }) };
}

// Made once: a request file asks for them hundreds of thousands of times.
const SEEDED = TEST_CARDS.map((_, index) => updaterCard(index, false));
const REFRESHED = TEST_CARDS.map((_, index) => updaterCard(index, true));

function updaterCard(index: number, refreshed: boolean): Card | undefined {
  const card = TEST_CARDS[index];
  if (card === undefined) return undefined;
  const number = refreshed ? (card.newNumber ?? card.number) : card.number;
  const scenario = THREE_DS_CARDS.find((other) => other.number === number)?.scenario ?? ORDINARY;
  return { ...card, lastFour: number.slice(-4), scenario, news: card, updaterCard: index, refreshed };
}

function threeDsCard(index: number): Card | undefined {
  const card = THREE_DS_CARDS[index];
  if (card === undefined) return undefined;
  const { number, network, scenario } = card;
  const { updaterCard } = positionsOfNumber(number);
  return {
    network,
    scenario,
    lastFour: number.slice(-4),
    ...THREE_DS_CARD_EXPIRY,
    ...newsAt(updaterCard),
    refreshed: false,
  };
}

function newCard({ firstSix, lastFour, month, year, updaterCard, threeDsCard }: TokenEvent): Card {
  const scenario = threeDsCard === undefined ? undefined : THREE_DS_CARDS[threeDsCard]?.scenario;
  return {
    network: networkOf(firstSix),
    scenario: scenario ?? ORDINARY,
    lastFour,
    month,
    year,
    ...newsAt(updaterCard),
    refreshed: false,
  };
}

function newsAt(place: number | undefined): Pick<Card, 'news' | 'updaterCard'> {
  return { news: place === undefined ? undefined : TEST_CARDS[place], updaterCard: place ?? 0 };
}

/** When the seeded test cards of 3-D Secure expire. */
const THREE_DS_CARD_EXPIRY = { month: '12', year: '2030' };

/** A test card of 3-D Secure in the sandbox. */
export interface SandboxThreeDsCard {
  readonly token: string;
  readonly token_intent: string;
  readonly network: string;
  /** First six and last four digits, the rest hidden. */
  readonly number: string;
  readonly scenario: ScenarioName;
}

/** The card tokens and token intents for 3-D Secure that a sandbox of this seed holds, one of each a test card. */
export function sandboxThreeDsCards(seed: number = DEFAULT_SEED): SandboxThreeDsCard[] {
  return THREE_DS_CARDS.map(({ number, network, scenario }, index) => ({
    token: threeDsToken(seed, index),
    token_intent: threeDsTokenIntent(seed, index),
    network,
    number: maskedNumber(number.slice(0, 6), number.slice(-4), number.length),
    scenario,
  }));
}

/** The place of a seeded card token in the test cards; undefined for another token. */
function threeDsCardOfToken(seed: number, token: string): number | undefined {
  return positionsOf(seed).tokens.get(token);
}

/** The place of a seeded token intent in the test cards; undefined for another. */
function threeDsCardOfIntent(seed: number, intent: string): number | undefined {
  return positionsOf(seed).intents.get(intent);
}

function threeDsToken(seed: number, index: number): string {
  return uuidOf(seed, NAMESPACE.threeDsCard, index);
}

function threeDsTokenIntent(seed: number, index: number): string {
  return uuidOf(seed, NAMESPACE.tokenIntent, index);
}

interface CardPositions {
  readonly tokens: ReadonlyMap<string, number>;
  readonly intents: ReadonlyMap<string, number>;
}

const known = new Map<number, CardPositions>();

function positionsOf(seed: number): CardPositions {
  let places = known.get(seed);
  if (places === undefined) {
    places = {
      tokens: new Map(THREE_DS_CARDS.map((_, index) => [threeDsToken(seed, index), index])),
      intents: new Map(THREE_DS_CARDS.map((_, index) => [threeDsTokenIntent(seed, index), index])),
    };
    known.set(seed, places);
  }
  return places;
}

/** A card number with all hidden but the first six and the last four digits. */
export function maskedNumber(firstSix: string, lastFour: string, length: number): string {
  return firstSix + '*'.repeat(length - 10) + lastFour;
}
