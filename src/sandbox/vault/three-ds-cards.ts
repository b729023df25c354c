import { THREE_DS_CARDS } from '../data/three-ds-cards.ts';
import { DEFAULT_SEED } from '../seed/entities.ts';
import { NAMESPACE, uuidOf } from '../seed/random.ts';
import type { ScenarioName } from '../three-ds/networks.ts';

/** When the seeded test cards of 3-D Secure expire. */
export const THREE_DS_CARD_EXPIRY = { month: '12', year: '2030' };

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
export function threeDsCardOfToken(seed: number, token: string): number | undefined {
  return positionsOf(seed).tokens.get(token);
}

/** The place of a seeded token intent in the test cards; undefined for another. */
export function threeDsCardOfIntent(seed: number, intent: string): number | undefined {
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
