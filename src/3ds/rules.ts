import { SESSION_TYPES_BY_AUTHENTICATION_TYPE, type SessionType } from '../schema/three-ds/values.ts';

/** The values of a body on which rules between fields depend, unchecked. */
export interface Combination {
  readonly category: unknown;
  readonly type: unknown;
  readonly decoupled?: unknown;
  readonly sessionType: SessionType | undefined;
}

export interface Condition {
  readonly words: string;
  readonly holds: (combination: Combination) => boolean;
}

export interface Need {
  readonly path: string;
  readonly when: Condition;
}

const PAYMENT: Condition = {
  words: 'authentication_category is payment',
  holds: ({ category }) => category === 'payment',
};
const RECURRING = ofType('recurring-transaction');
const INSTALLMENT = ofType('installment-transaction');
const PURCHASE: Condition = {
  words: `${PAYMENT.words}, or authentication_type is recurring-transaction or installment-transaction`,
  holds: (combination) => [PAYMENT, RECURRING, INSTALLMENT].some((condition) => condition.holds(combination)),
};
const DECOUPLED: Condition = {
  words: 'request_decoupled_challenge is true or the session is of type merchant',
  holds: ({ decoupled, sessionType }) => decoupled === true || sessionType === 'merchant',
};

export const UNKNOWN_MEMBER = 'is not a field of the interface';

/** The conditional rules of the interface about required fields. */
export const NEEDS: readonly Need[] = [
  { path: 'decoupled_challenge_max_time', when: DECOUPLED },
  { path: 'purchase_info', when: PURCHASE },
  { path: 'purchase_info.amount', when: PURCHASE },
  { path: 'purchase_info.currency', when: PURCHASE },
  { path: 'purchase_info.exponent', when: PURCHASE },
  { path: 'purchase_info.date', when: PURCHASE },
  { path: 'purchase_info.transaction_type', when: PAYMENT },
  { path: 'purchase_info.installment_count', when: INSTALLMENT },
  { path: 'purchase_info.recurring_expiration', when: RECURRING },
  { path: 'purchase_info.recurring_frequency', when: RECURRING },
  { path: 'merchant_info', when: PAYMENT },
  { path: 'merchant_info.mid', when: PAYMENT },
  { path: 'merchant_info.acquirer_bin', when: PAYMENT },
  { path: 'merchant_info.name', when: PAYMENT },
  { path: 'merchant_info.country_code', when: PAYMENT },
  { path: 'merchant_info.category_code', when: PAYMENT },
];

/** Returns the session types for an authentication type; none for an unknown one. */
export function sessionTypesOf(type: unknown): readonly SessionType[] {
  const found = Object.entries(SESSION_TYPES_BY_AUTHENTICATION_TYPE).find(([name]) => name === type);
  return found?.[1] ?? [];
}

/** Returns the authentication types for a session of this type. */
export function authenticationTypesOf(sessionType: SessionType): string[] {
  return Object.keys(SESSION_TYPES_BY_AUTHENTICATION_TYPE).filter((type) => sessionTypesOf(type).includes(sessionType));
}

const WITHOUT_MONEY = new Set([
  'cardholder-emv-verification',
  'whitelist-status-check',
  'billing-agreement',
  'add-card',
  'maintain-card',
  'account-verification',
]);

/** Returns the usual category for an authentication type; the interface allows both. */
export function usualCategoryOf(type: string): 'payment' | 'non-payment' {
  return WITHOUT_MONEY.has(type) ? 'non-payment' : 'payment';
}

function ofType(name: string): Condition {
  return { words: `authentication_type is ${name}`, holds: ({ type }) => type === name };
}
