// Values of 3DS fields and their EMV codes. Free of zod, so that an explanation loads nothing for them.

/** Who starts a session. */
export const SESSION_TYPES = ['customer', 'merchant'] as const;

/** Who starts a session. */
export type SessionType = (typeof SESSION_TYPES)[number];

/** Results of the 3DS method: completed, not completed, unavailable. */
export const METHOD_COMPLETION_INDICATORS = ['Y', 'N', 'U'] as const;

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

/** A known outcome of an authentication. */
export type AuthenticationStatus = keyof typeof AUTHENTICATION_STATUS_CODES;

/** Known outcomes of an authentication. */
export const AUTHENTICATION_STATUSES = [
  'successful',
  'attempted',
  'failed',
  'unavailable',
  'challenge',
  'decoupled_challenge',
  'rejected',
  'informational',
] as const satisfies readonly AuthenticationStatus[];

/** Known reasons of an outcome. */
export const AUTHENTICATION_STATUS_REASONS = [
  'card-authentication-failed',
  'unknown-device',
  'unsupported-device',
  'too-many-authentication-attempts',
  'card-expired',
  'invalid-card-number',
  'invalid-transaction',
  'no-card-record',
  'security-failure',
  'stolen-card',
  'suspected-fraud',
  'transaction-not-permitted',
  'cardholder-not-enrolled',
  'timeout-at-acs',
  'low-confidence',
  'medium-confidence',
  'high-confidence',
  'very-high-confidence',
  'max-challenges-exceeded',
  'non-payment-transaction-not-supported',
  '3ri-not-supported',
  'acs-technical-issue',
  'decoupled-authentication-required',
  'decoupled-authentication-timeout',
  'insufficient-decoupled-authentication-time',
  'authentication-attempted-but-not-performed',
] as const;

/** Known kinds of challenge. */
export const CHALLENGE_TYPES = ['static', 'dynamic', 'out-of-band', 'decoupled'] as const;

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

/** Known states of the cardholder's list of trusted merchants. */
export const WHITELIST_STATUSES = [
  'merchant-trusted',
  'merchant-not-trusted',
  'not-eligible',
  'pending-confirmation',
  'request-to-trust-rejected',
  'unknown',
] as const;

/** Who set the whitelist status. */
export const WHITELIST_STATUS_SOURCES = ['3ds-server', 'directory-server', 'acs'] as const;

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
