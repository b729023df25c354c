import { SANDBOX_MERCHANT_ID, type ResultCode } from '../../schema/account-updater-files.ts';

/** A row of a request file; empty where the cell is. */
export interface RequestRow {
  readonly token: string;
  readonly year: string;
  readonly month: string;
  readonly merchant: string;
}

/** What the card networks know of a card. */
export interface CardNews {
  readonly code?: ResultCode | undefined;
  readonly newNumber?: string | undefined;
  readonly newMonth?: string | undefined;
  /** 4 digits. */
  readonly newYear?: string | undefined;
}

/** A card token as the vault holds it. */
export interface VaultCard extends CardNews {
  readonly month?: string | undefined;
  readonly year?: string | undefined;
  /** Whether an earlier job made it: the networks have no news of such a card. */
  readonly refreshed: boolean;
}

/** What a result row says. */
export interface Outcome {
  readonly code: ResultCode;
  readonly newToken: boolean;
  readonly newYear: string;
  readonly newMonth: string;
}

/** The outcome of one row; undefined for a row that is left out of the result. */
export function outcomeOf(row: RequestRow, card: VaultCard | undefined): Outcome | undefined {
  if (card === undefined) return plain('ERR_INVALID_TOKEN');
  if (row.merchant !== '' && row.merchant !== SANDBOX_MERCHANT_ID) return plain('ERR_INVALID_CONFIG');
  if (!hasExpiration(row, card)) return plain('ERR_INVALID_EXP_DATE');
  if (card.refreshed || card.code === undefined) return undefined;
  if (!yieldsToken(card)) return plain(card.code);
  return {
    code: card.code,
    newToken: true,
    newYear: card.newYear?.slice(-2) ?? '',
    newMonth: card.newMonth ?? '',
  };
}

/** Whether the news of a card make a new token. A conversion to another brand may change nothing on the card. */
export function yieldsToken(card: CardNews): boolean {
  const changed = card.newNumber !== undefined || card.newYear !== undefined;
  return card.code === 'UPD_CORRECTED' || (card.code?.startsWith('UPD_') === true && changed);
}

function plain(code: ResultCode): Outcome {
  return { code, newToken: false, newYear: '', newMonth: '' };
}

// The row's date counts where it has one, each half for itself, as the interface words it.
function hasExpiration(row: RequestRow, card: VaultCard): boolean {
  const year = row.year === '' ? card.year?.slice(-2) : row.year;
  const month = row.month === '' ? card.month : row.month;
  return /^\d\d$/.test(year ?? '') && /^(0[1-9]|1[0-2])$/.test(month ?? '');
}
