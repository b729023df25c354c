import { SESSION_TYPES_BY_AUTHENTICATION_TYPE, type SessionType } from '../../schema/three-ds/values.ts';

/** A member of a body that breaks a rule between fields, and what it must be. */
export type Broken = readonly [path: string, message: string];

/** What of an authenticate body the rules between fields look at. Values are as they came. */
export interface Facts {
  readonly category: unknown;
  readonly type: unknown;
  readonly decoupled: unknown;
  readonly sessionType: SessionType;
  /** Whether a member, named by its path, is there. */
  has(path: string): boolean;
}

/** Every rule between the fields of an authenticate body that does not hold. */
export function brokenConditions(facts: Facts): Broken[] {
  const missing = NEEDS.flatMap(({ when, words, paths }) =>
    when(facts)
      ? paths.filter((path) => isMissing(facts, path)).map((path): Broken => [path, `Is required ${words}.`])
      : [],
  );
  return [...sessionRule(facts), ...missing];
}

interface Need {
  readonly words: string;
  readonly paths: readonly string[];
  readonly when: (facts: Facts) => boolean;
}

const isPayment = ({ category }: Facts): boolean => category === 'payment';
const isRecurring = ({ type }: Facts): boolean => type === 'recurring-transaction';
const isInstallment = ({ type }: Facts): boolean => type === 'installment-transaction';

const NEEDS: readonly Need[] = [
  {
    words: 'when request_decoupled_challenge is true or the session type is merchant',
    paths: ['decoupled_challenge_max_time'],
    when: ({ decoupled, sessionType }) => decoupled === true || sessionType === 'merchant',
  },
  {
    words: 'for payment, recurring-transaction and installment-transaction',
    paths: [
      'purchase_info',
      'purchase_info.amount',
      'purchase_info.currency',
      'purchase_info.exponent',
      'purchase_info.date',
    ],
    when: (facts) => isPayment(facts) || isRecurring(facts) || isInstallment(facts),
  },
  {
    words: 'when authentication_category is payment',
    paths: [
      'purchase_info.transaction_type',
      'merchant_info',
      'merchant_info.mid',
      'merchant_info.acquirer_bin',
      'merchant_info.name',
      'merchant_info.country_code',
      'merchant_info.category_code',
    ],
    when: isPayment,
  },
  {
    words: 'for installment-transaction',
    paths: ['purchase_info.installment_count'],
    when: isInstallment,
  },
  {
    words: 'for recurring-transaction',
    paths: ['purchase_info.recurring_expiration', 'purchase_info.recurring_frequency'],
    when: isRecurring,
  },
];

// Where a whole object is missing, that is said once, not again for each of its members.
function isMissing(facts: Facts, path: string): boolean {
  const [parent = ''] = path.split('.');
  return !facts.has(path) && (parent === path || facts.has(parent));
}

function sessionRule({ type, sessionType }: Facts): Broken[] {
  const allowed = Object.entries(SESSION_TYPES_BY_AUTHENTICATION_TYPE).find(([name]) => name === type)?.[1];
  if (allowed === undefined || allowed.some((name) => name === sessionType)) return [];
  return [['authentication_type', `Is not allowed for sessions of type ${sessionType}.`]];
}
