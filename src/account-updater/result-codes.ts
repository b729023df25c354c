import type { ResultStep } from '../config/choices.ts';

/** What a result means for a token, by the prefix of its code. */
export type ResultClass = 'updated' | 'warned' | 'error' | 'unknown';

/** What to do with the token in the next request file. */
export type NextStep = 'replace' | 'keep' | 'exclude' | 'consider_excluding' | 'fix';

/** What is known of one result code. */
export interface ResultCode {
  readonly class: ResultClass;
  readonly meaning: string;
  /** What the operator should do. */
  readonly action: string;
  readonly next: NextStep;
}

/** The result codes of the interface, in its order. The service may send others. */
export const RESULT_CODES: Readonly<Record<string, ResultCode>> = {
  UPD_PAN: {
    class: 'updated',
    meaning: 'the issuer gave the account a new number, perhaps a new expiration date too',
    action: 'use the new token from now on',
    next: 'replace',
  },
  UPD_EXP_DATE: {
    class: 'updated',
    meaning: 'the issuer gave the card a new expiration date',
    action: 'use the new token from now on',
    next: 'replace',
  },
  UPD_BRAND_CONV: {
    class: 'updated',
    meaning: 'the card moved to another brand of the same issuer',
    action: 'use the new token where there is one',
    next: 'replace',
  },
  UPD_CORRECTED: {
    class: 'updated',
    meaning: 'the issuer corrected an earlier update',
    action: 'use the new token from now on',
    next: 'replace',
  },
  WRN_CLOSED_ACCOUNT: {
    class: 'warned',
    meaning: 'the issuer closed the account',
    action: 'leave the token out of future requests',
    next: 'exclude',
  },
  WRN_CONTACT_CARDHOLDER: {
    class: 'warned',
    meaning: 'the issuer wants you to ask the cardholder',
    action: 'contact the cardholder; nothing was updated',
    next: 'keep',
  },
  WRN_ISSUER_NOT_ENROLLED: {
    class: 'warned',
    meaning: 'the issuer does not take part in the program',
    action: 'consider leaving the token out of future requests',
    next: 'consider_excluding',
  },
  WRN_ISSUER_NO_DATA: {
    class: 'warned',
    meaning: 'the issuer gave no information about the card',
    action: 'consider leaving the token out of future requests',
    next: 'consider_excluding',
  },
  WRN_OPT_OUT: {
    class: 'warned',
    meaning: 'the cardholder does not want updates',
    action: 'consider leaving the token out of future requests',
    next: 'consider_excluding',
  },
  WRN_UNSUPPORTED_NETWORK: {
    class: 'warned',
    meaning: 'the card network does not take part in the program',
    action: 'consider leaving the token out of future requests',
    next: 'consider_excluding',
  },
  ERR_UNDEFINED: {
    class: 'error',
    meaning: 'an error that the service does not specify',
    action: 'contact support',
    next: 'keep',
  },
  ERR_INVALID_PAN: {
    class: 'error',
    meaning: 'the token holds no valid card number',
    action: 'check that its number is valid and of a supported network, and leave the token out until then',
    next: 'exclude',
  },
  ERR_INVALID_TOKEN: {
    class: 'error',
    meaning: 'the service does not know the token',
    action: 'check that the token is a card token of this tenant',
    next: 'fix',
  },
  ERR_INVALID_EXP_DATE: {
    class: 'error',
    meaning: 'the expiration date is missing or wrong',
    action: 'give year and month in the row, or store them on the token',
    next: 'fix',
  },
  ERR_INVALID_CONFIG: {
    class: 'error',
    meaning: 'the Account Updater settings do not fit the request',
    action: 'check merchant_id against the value from onboarding; if it is right, contact support',
    next: 'fix',
  },
};

/** The class of any code, known or not, by its prefix. */
export function resultClass(code: string): ResultClass {
  return Object.entries(PREFIXES).find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'unknown';
}

/** What is known of a code; for one that is not known, what its prefix tells. */
export function explainResultCode(code: string): ResultCode & { readonly known: boolean } {
  const known = KNOWN_CODES.get(code);
  if (known !== undefined) return known;
  const group = resultClass(code);
  return { class: group, ...UNKNOWN_CODES[group], known: false };
}

// Looked up for each of millions of rows.
const KNOWN_CODES = new Map(
  Object.entries(RESULT_CODES).map(([code, known]) => [code, { ...known, known: true }]),
);

const PREFIXES: Readonly<Record<string, ResultClass>> = { UPD: 'updated', WRN: 'warned', ERR: 'error' };

const UNKNOWN_CODES: Readonly<Record<ResultClass, Omit<ResultCode, 'class'>>> = {
  updated: {
    meaning: 'an unknown kind of update',
    action: 'use the new token where there is one',
    next: 'replace',
  },
  warned: { meaning: 'an unknown warning', action: 'look the code up with the service', next: 'keep' },
  error: { meaning: 'an unknown error', action: 'look the code up with the service', next: 'fix' },
  unknown: { meaning: 'an unknown code', action: 'look the code up with the service', next: 'keep' },
};

/** Steps that the operator chose for result codes, in place of the ones that come with the tool. */
export type Actions = ReadonlyMap<string, ResultStep>;

/** What is to be done with a row that came with this code: the operator's choice, else what the code asks for. */
export function stepFor(code: string, actions: Actions): NextStep {
  return actions.get(code) ?? explainResultCode(code).next;
}

/** What a code asks for in words: the operator's choice where it is another one, else what comes with the code. */
export function actionFor(code: string, actions: Actions): string {
  const { next, action } = explainResultCode(code);
  const chosen = actions.get(code);
  return chosen === undefined || chosen === next ? action : `${CHOSEN[chosen]} (your choice)`;
}

const CHOSEN: Readonly<Record<ResultStep, string>> = {
  replace: 'use the new token where there is one',
  keep: 'keep the token in future requests',
  exclude: 'leave the token out of future requests',
  fix: 'fix the row or the token before it is sent again',
};

/** Where a row of a result file belongs, by what there is to do. Also the names of the files of a split. */
export type ActionGroup = 'update' | 'contact' | 'exclude' | 'fix' | 'keep' | 'unknown';

/** All groups, in the order of a report. */
export const ACTION_GROUPS: readonly ActionGroup[] = [
  'update',
  'contact',
  'exclude',
  'fix',
  'keep',
  'unknown',
];

/** The one group for a row: `keep` is for rows that ask for nothing. */
export function actionGroupOf(code: string, hasNewToken: boolean, actions: Actions): ActionGroup {
  const { known, class: group, next } = explainResultCode(code);
  const step = actions.get(code) ?? next;
  if (step === 'replace') return hasNewToken ? 'update' : 'keep';
  if (step === 'exclude') return 'exclude';
  if (actions.has(code)) return step === 'fix' ? 'fix' : 'keep';
  if (!known) return 'unknown';
  if (step === 'consider_excluding') return 'exclude';
  if (code === 'WRN_CONTACT_CARDHOLDER') return 'contact';
  return group === 'error' ? 'fix' : 'keep';
}
