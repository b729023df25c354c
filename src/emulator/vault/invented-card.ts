import { REHEARSAL_PREFIX } from '../../schema/account-updater-files.ts';
import { UUID } from '../../schema/uuid.ts';
import { hex, mix, NAMESPACE } from '../seed/random.ts';
import { ORDINARY, TEST_CARDS } from '../seed/test-cards.ts';
import type { Card } from './cards.ts';

/**
 * Returns a card for a token that the vault does not know, with an outcome that depends only on the seed and the token.
 * Returns undefined for a token that is not a UUID. `at` is the time of the upload; new expirations are later.
 */
export function inventedCard(seed: number, token: string, at: number): Card | undefined {
  if (!UUID.test(token)) return undefined;
  const hash = cardHashOf(seed, token);
  const updaterCard = positionOf(hash);
  const card = TEST_CARDS[updaterCard ?? -1];
  const newYear = String(new Date(at).getUTCFullYear() + 3 + (mix(hash, 2) % 3));
  return {
    network: card?.network ?? '',
    lastFour: card?.number.slice(-4) ?? '',
    month: '12',
    year: '2030',
    scenario: ORDINARY,
    update: card?.newYear === undefined ? card : { ...card, newYear },
    updaterCard: updaterCard ?? 0,
    refreshed: false,
  };
}

/**
 * Returns the new token for an invented card. The token is not a UUID, so that nobody takes it for a token of the service, and
 * has a letter in its middle, so that it never looks like a card number.
 */
export function inventedToken(seed: number, token: string): string {
  const first = cardHashOf(seed, token, 1);
  const letter = 'abcdef'.charAt(first % 6);
  return REHEARSAL_PREFIX + hex(first, 8) + letter + hex(cardHashOf(seed, token, 2), 8).slice(1);
}

function cardHashOf(seed: number, token: string, number = 0): number {
  const digits = token.replaceAll('-', '');
  const word = (at: number): number => Number.parseInt(digits.slice(at, at + 8), 16);
  return mix(mix(seed, NAMESPACE.inventedCard, number), word(0), word(8), word(16), word(24));
}

/** Returns the test cards with a kind of code. Leaves out `ERR_INVALID_CONFIG`, which depends on the row's merchant id. */
function positionsOf(kind: string): number[] {
  return TEST_CARDS.flatMap(({ code }, at) => (code?.startsWith(kind) && code !== 'ERR_INVALID_CONFIG' ? [at] : []));
}

/** The share of cards with each kind of code in a usual month. All other cards have no update. */
const SHARES = [
  { share: 0.04, cards: positionsOf('UPD_') },
  { share: 0.015, cards: positionsOf('WRN_') },
  { share: 0.005, cards: positionsOf('ERR_') },
];

/** Returns the position in `TEST_CARDS` of the card whose outcome to use; undefined for no update. */
function positionOf(hash: number): number | undefined {
  let place = hash / 2 ** 32;
  for (const { share, cards } of SHARES) {
    if (place < share) return cards[mix(hash, 1) % cards.length];
    place -= share;
  }
  return undefined;
}
