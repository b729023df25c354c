import { REQUEST_COLUMNS } from '../schema/account-updater-files.ts';
import { yieldsToken } from './account-updater/process-file.ts';
import { TEST_CARDS } from './data/account-updater-cards.ts';
import { cardToken, DEFAULT_SEED } from './seed/entities.ts';
import { maskedNumber } from './vault/three-ds-cards.ts';

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
