import { isObject } from '../json-value.ts';
import { ownValue } from './body-values.ts';
import type { SessionType } from './values.ts';

/** The values of a body that decide which other fields are needed. The body may still be invalid. */
export interface Combination {
  readonly category: unknown;
  readonly type: unknown;
  readonly decoupled?: unknown;
  readonly sessionType: SessionType | undefined;
}

interface Condition {
  readonly words: string;
  readonly holds: (combination: Combination) => boolean;
}

/** A field, and when it is needed. */
interface Need {
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

// The documented rules about fields that only some requests need.
const CONDITIONAL: readonly Need[] = [
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

/** Whether a combination needs an otherwise optional field. */
export function isNeeded(path: string, combination: Combination): boolean {
  return CONDITIONAL.some((need) => need.path === path && need.when.holds(combination));
}

/** Finds the fields that a combination needs and a body lacks. Lists a missing object once, without its members. */
export function missingFields(body: unknown, combination: Combination): Need[] {
  return CONDITIONAL.filter(({ path, when }) => {
    const parts = path.split('.');
    const isMissing = isObject(ownValue(body, parts.slice(0, -1))) && ownValue(body, parts) === undefined;
    return isMissing && when.holds(combination);
  });
}

function ofType(name: string): Condition {
  return { words: `authentication_type is ${name}`, holds: ({ type }) => type === name };
}
