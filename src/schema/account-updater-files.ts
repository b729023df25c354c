import { DAY_MS, HOUR_MS, MINUTE_MS } from './durations.ts';

// The facts of Account Updater jobs, their events and their two CSV files. Without zod, so that an offline check starts fast.

/** Columns of a request file, in order. Only `token` is required. */
export const REQUEST_COLUMNS = ['token', 'expiration_year', 'expiration_month', 'merchant_id'] as const;

/** Columns of a result file, in order. The service may add columns at the end. */
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

/** Types of events about jobs. The service documents only the second one, and a webhook may deliver others. */
export const EVENT_TYPES = [
  'account-updater.job.created',
  'account-updater.job.completed',
  'account-updater.job.failed',
] as const;

/** How long a job waits for its request file before the service removes the job. */
export const UPLOAD_LIFE_MS = HOUR_MS;

/** How long a job of a production tenant takes at most after its upload. */
export const MAX_JOB_MS = 7 * DAY_MS;

/** How long an upload may continue after its address has expired. The extra second is for times in whole seconds. */
export const UNDER_WAY_MS = 15 * MINUTE_MS + 1000;

/** The maximum size of a request file: the documented 30 MB, read as the smaller of the two meanings. */
export const MAX_REQUEST_FILE_BYTES = 30_000_000;

/** The maximum number of tokens in a request file, approximately. */
export const MAX_REQUEST_FILE_ROWS = 300_000;

/** The only merchant id of a test tenant. The merchant id may also be empty. */
export const SANDBOX_MERCHANT_ID = 'SANDBOX';

/** The prefix of the new tokens of a rehearsal. No card has such a token. */
export const REHEARSAL_PREFIX = 'rehearsal-';

/** The warning on every output of a rehearsal, whose outcomes could be mistaken for outcomes of the service. */
export const REHEARSAL_WARNING = 'REHEARSAL: outcomes are invented';

/** Known result codes. A result file may contain other codes. */
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
