import { DAY_MS, HOUR_MS, MINUTE_MS } from './durations.ts';

// Facts of jobs and their two CSV files. Free of zod, so that an offline check loads nothing for them.

/** Columns of a request file, in order. Only `token` needs a value. */
export const REQUEST_COLUMNS = ['token', 'expiration_year', 'expiration_month', 'merchant_id'] as const;

/** Columns of a result file, in order. Later columns may be added by the service. */
export const RESULT_COLUMNS = [
  'token',
  'expiration_year',
  'expiration_month',
  'new_token',
  'new_expiration_year',
  'new_expiration_month',
  'result_code',
] as const;

export const JOB_STATUSES = ['pending', 'processing', 'completed', 'failed'] as const;

/** How long a job waits for its request file before it is removed, in milliseconds. */
export const UPLOAD_LIFE_MS = HOUR_MS;

/** The longest time that a job of a production tenant takes after its upload. */
export const LONGEST_JOB_MS = 7 * DAY_MS;

/** How long after the end of an upload address bytes may still be under way. A time in whole seconds may be a second early. */
export const UNDER_WAY_MS = 15 * MINUTE_MS + 1000;

/** The largest request file, in bytes. The interface says 30 MB; read as the smaller of the two meanings. */
export const MAX_REQUEST_FILE_BYTES = 30_000_000;

/** About how many tokens a request file can contain. */
export const MAX_REQUEST_FILE_ROWS = 300_000;

/** The merchant id that a test tenant takes beside an empty one. */
export const SANDBOX_MERCHANT_ID = 'SANDBOX';

/** What the new tokens of a rehearsal begin with. No card has such a token. */
export const REHEARSAL_PREFIX = 'rehearsal-';

/** What a rehearsal says of itself wherever somebody could take its outcomes for those of the service. */
export const REHEARSAL_WARNING = 'REHEARSAL: outcomes are invented';

/** Known result codes. A result file may carry others. */
export const RESULT_CODES = [
  'UPD_PAN',
  'UPD_EXP_DATE',
  'UPD_BRAND_CONV',
  'UPD_CORRECTED',
  'WRN_CLOSED_ACCOUNT',
  'WRN_CONTACT_CARDHOLDER',
  'WRN_ISSUER_NOT_ENROLLED',
  'WRN_ISSUER_NO_DATA',
  'WRN_OPT_OUT',
  'WRN_UNSUPPORTED_NETWORK',
  'ERR_UNDEFINED',
  'ERR_INVALID_PAN',
  'ERR_INVALID_TOKEN',
  'ERR_INVALID_EXP_DATE',
  'ERR_INVALID_CONFIG',
] as const;

export type ResultCode = (typeof RESULT_CODES)[number];

/** The expiration of all test cards of the service, as year and month. */
export const TEST_CARD_EXPIRATION = [2023, 12] as const;
