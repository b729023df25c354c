import type { SessionType } from '../../src/schema/three-ds/values.ts';

// The rules of the interface about needed fields, written from its text, not from the code.
export type Case = readonly [category: string, type: string, session: SessionType];

const PAYS: Case = ['payment', 'payment-transaction', 'customer'];
const PAYS_ALONE: Case = ['payment', 'other-payment', 'merchant'];
const RECURS: Case = ['non-payment', 'recurring-transaction', 'customer'];
const INSTALS: Case = ['non-payment', 'installment-transaction', 'customer'];
const ADDS: Case = ['non-payment', 'add-card', 'customer'];
const ADDS_ALONE: Case = ['non-payment', 'add-card', 'merchant'];

const PURCHASE = { needed: [PAYS, PAYS_ALONE, RECURS, INSTALS], free: [ADDS, ADDS_ALONE] };
const PAYMENT = { needed: [PAYS, PAYS_ALONE], free: [RECURS, INSTALS, ADDS] };

/** Fields that only some combinations need, each with combinations that need it and combinations that do not. */
const NEEDED: Readonly<Record<string, { needed: readonly Case[]; free: readonly Case[] }>> = {
  purchase_info: PURCHASE,
  'purchase_info.amount': PURCHASE,
  'purchase_info.currency': PURCHASE,
  'purchase_info.exponent': PURCHASE,
  'purchase_info.date': PURCHASE,
  'purchase_info.transaction_type': PAYMENT,
  'purchase_info.installment_count': { needed: [INSTALS], free: [PAYS, RECURS, ADDS] },
  'purchase_info.recurring_expiration': { needed: [RECURS], free: [PAYS, INSTALS, ADDS] },
  'purchase_info.recurring_frequency': { needed: [RECURS], free: [PAYS, INSTALS, ADDS] },
  merchant_info: PAYMENT,
  'merchant_info.mid': PAYMENT,
  'merchant_info.acquirer_bin': PAYMENT,
  'merchant_info.name': PAYMENT,
  'merchant_info.country_code': PAYMENT,
  'merchant_info.category_code': PAYMENT,
  decoupled_challenge_max_time: { needed: [PAYS_ALONE, ADDS_ALONE], free: [PAYS, ADDS, RECURS] },
};

export const ALWAYS_NEEDED = [
  'authentication_category',
  'authentication_type',
  'requestor_info',
  'requestor_info.id',
  'requestor_info.name',
  'requestor_info.url',
  'cardholder_info',
  'cardholder_info.name',
  'cardholder_info.email',
];

/** Every field of the table with each combination, and whether it is needed there. */
export const NEEDED_CASES = Object.entries(NEEDED).flatMap(([path, { needed, free }]) =>
  [needed, free].flatMap((side) => side.map((combination) => ({ path, combination, isNeeded: side === needed }))),
);

/** Combinations that need different fields. */
export const COMBINATIONS: readonly Case[] = [PAYS, PAYS_ALONE, RECURS, ADDS];
