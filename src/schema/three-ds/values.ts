// Values of 3DS fields and their EMV codes. Without zod, so that explanations load fast.

/** Who starts a session. */
export const SESSION_TYPES = ['customer', 'merchant'] as const;

export type SessionType = (typeof SESSION_TYPES)[number];

/** Outcomes of an authentication and their EMV codes. */
export const AUTHENTICATION_STATUS_CODES = {
  successful: 'Y',
  attempted: 'A',
  failed: 'N',
  unavailable: 'U',
  challenge: 'C',
  decoupled_challenge: 'D',
  rejected: 'R',
  informational: 'I',
} as const;

export type AuthenticationStatus = keyof typeof AUTHENTICATION_STATUS_CODES;

export const AUTHENTICATION_STATUSES = Object.keys(AUTHENTICATION_STATUS_CODES) as AuthenticationStatus[];

/**
 * Reasons of an authentication's status, each with a status that the reason usually explains. The documentation does not assign
 * reasons to statuses.
 */
export const STATUS_REASONS = {
  'card-authentication-failed': 'failed',
  'unknown-device': 'failed',
  'unsupported-device': 'failed',
  'too-many-authentication-attempts': 'failed',
  'card-expired': 'failed',
  'invalid-card-number': 'failed',
  'invalid-transaction': 'failed',
  'no-card-record': 'failed',
  'security-failure': 'failed',
  'stolen-card': 'rejected',
  'suspected-fraud': 'rejected',
  'transaction-not-permitted': 'failed',
  'cardholder-not-enrolled': 'failed',
  'timeout-at-acs': 'unavailable',
  'low-confidence': 'failed',
  'medium-confidence': 'attempted',
  'high-confidence': 'successful',
  'very-high-confidence': 'successful',
  'max-challenges-exceeded': 'failed',
  'non-payment-transaction-not-supported': 'unavailable',
  '3ri-not-supported': 'unavailable',
  'acs-technical-issue': 'unavailable',
  'decoupled-authentication-required': 'failed',
  'decoupled-authentication-timeout': 'failed',
  'insufficient-decoupled-authentication-time': 'failed',
  'authentication-attempted-but-not-performed': 'attempted',
} as const satisfies Readonly<Record<string, AuthenticationStatus>>;

export type StatusReason = keyof typeof STATUS_REASONS;

/** How the cardholder is challenged. */
export const CHALLENGE_TYPES = ['static', 'dynamic', 'out-of-band', 'decoupled'] as const;

export type ChallengeType = (typeof CHALLENGE_TYPES)[number];

/** Whether the cardholder lists the merchant as trusted. */
export const WHITELIST_STATUSES = [
  'merchant-trusted',
  'merchant-not-trusted',
  'not-eligible',
  'pending-confirmation',
  'request-to-trust-rejected',
  'unknown',
] as const;

export type WhitelistStatus = (typeof WHITELIST_STATUSES)[number];

/** Who set the whitelist status. */
export const WHITELIST_SOURCES = ['3ds-server', 'directory-server', 'acs'] as const;

export type WhitelistSource = (typeof WHITELIST_SOURCES)[number];

/** Why a challenge was given up, and the EMV codes. */
export const CHALLENGE_CANCEL_REASON_CODES = {
  'cardholder-canceled': '01',
  'requestor-canceled': '02',
  'transaction-abandoned': '03',
  'acs-timeout': '04',
  'acs-timeout-request-not-received': '05',
  error: '06',
  unknown: '07',
} as const;

export type CancelReason = keyof typeof CHALLENGE_CANCEL_REASON_CODES;

/** Preferences for a challenge and their EMV codes. */
export const CHALLENGE_PREFERENCE_CODES = {
  'no-preference': '01',
  'no-challenge': '02',
  'challenge-requested': '03',
  'challenge-mandated': '04',
  'no-challenge-risk-analysis-performed': '05',
  'no-challenge-data-sharing-only': '06',
  'no-challenge-strong-consumer-auth': '07',
  'no-challenge-whitelist-exemption': '08',
  'challenge-requested-whitelist-prompt': '09',
  'cartes-bancaires': '90',
} as const;

/** Whether money is exchanged, or cards are only added to accounts. */
export const AUTHENTICATION_CATEGORIES = ['payment', 'non-payment'] as const;

/** Authentication types, and the session types that each goes with. */
export const SESSION_TYPES_BY_AUTHENTICATION_TYPE = {
  'payment-transaction': ['customer'],
  'cardholder-emv-verification': ['customer'],
  'split-or-delayed-shipment': ['merchant'],
  'top-up': ['merchant'],
  'mail-order': ['merchant'],
  'telephone-order': ['merchant'],
  'whitelist-status-check': ['merchant'],
  'other-payment': ['merchant'],
  'billing-agreement': ['merchant'],
  'recurring-transaction': ['customer', 'merchant'],
  'installment-transaction': ['customer', 'merchant'],
  'add-card': ['customer', 'merchant'],
  'maintain-card': ['customer', 'merchant'],
  'account-verification': ['customer', 'merchant'],
} as const satisfies Readonly<Record<string, readonly SessionType[]>>;

export type AuthenticationType = keyof typeof SESSION_TYPES_BY_AUTHENTICATION_TYPE;

/** Returns the session types for an authentication type; none for an unknown one. */
export function sessionTypesOf(type: unknown): readonly SessionType[] {
  const found = Object.entries(SESSION_TYPES_BY_AUTHENTICATION_TYPE).find(([name]) => name === type);
  return found?.[1] ?? [];
}

export const TRANSACTION_TYPES = [
  'purchase',
  'check-acceptance',
  'account-funding',
  'quasi-cash',
  'prepaid-activation-load',
] as const;

export const DELIVERY_TIME_FRAMES = [
  'electronic-delivery',
  'same-day-shipping',
  'overnight-shipping',
  'two-or-more-day-shipping',
] as const;

export const SHIPPING_METHODS = [
  'ship-to-billing-address',
  'ship-to-verified-address',
  'ship-to-different-address',
  'ship-to-store',
  'digital-goods',
  'travel-and-event-tickets',
  'other',
] as const;

export const ACCOUNT_TYPES = ['debit', 'credit'] as const;

const LONGER_AGES = ['less-than-30-days', '30-to-60-days', 'more-than-60-days'] as const;

export const ACCOUNT_AGES = ['no-account', 'created-this-transaction', ...LONGER_AGES] as const;

export const ACCOUNT_CHANGES = ['changed-this-transaction', ...LONGER_AGES] as const;

export const PASSWORD_CHANGES = ['no-change', 'changed-this-transaction', ...LONGER_AGES] as const;

export const SHIPPING_ADDRESS_USES = ['this-transaction', ...LONGER_AGES] as const;

export const CARDHOLDER_AUTHENTICATION_METHODS = [
  'no-login',
  'username-password',
  'federated-id',
  'issuer-credentials',
  'third-party',
  'fido',
  'fido-data-signed',
  'src-assurance-data',
] as const;

export const PRIOR_AUTHENTICATION_METHODS = ['frictionless', 'challenged', 'avs-verified', 'other'] as const;
