import { TEST_CARDS, type TestCard } from '../data/account-updater-cards.ts';
import { THREE_DS_CARDS } from '../data/three-ds-cards.ts';
import { originOfToken } from '../seed/entities.ts';
import { jobStatus } from '../state/events.ts';
import type { World } from '../state/world.ts';
import { networkOf, ORDINARY, type ScenarioName } from '../three-ds/networks.ts';
import { THREE_DS_CARD_EXPIRY, threeDsCardOfIntent, threeDsCardOfToken } from './three-ds-cards.ts';
import type { TokenEvent } from './tokens.ts';

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
