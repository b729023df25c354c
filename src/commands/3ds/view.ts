import type { Tone, View } from '../../output/view.ts';
import type { Authentication, CreatedSession, ThreeDsSession } from '../../schema/three-ds/session.ts';

/** How a session just created is shown. */
export const createdSessionView: View<CreatedSession> = {
  name: '3DS session',
  fields: [
    'id',
    'type',
    'card_brand',
    'method_url',
    'method_notification_url',
    'directory_server_id',
    'recommended_version',
  ],
  columns: [{ path: 'id', kind: 'id' }],
};

const RESULT_FIELDS = [
  'authentication_status',
  'eci',
  'authentication_value',
  'threeds_version',
  'acs_transaction_id',
  'ds_transaction_id',
  'acs_reference_number',
  'ds_reference_number',
] as const;

const CHALLENGE_FIELDS = [
  ...RESULT_FIELDS,
  'acs_challenge_mandated',
  'authentication_challenge_type',
  'acs_challenge_url',
  'challenge_attempts',
  'message_extensions',
] as const;

/** How the answer to an authentication is shown; after a challenge it has more. */
export const authenticationResultView: View<Authentication> = {
  name: 'authentication result',
  fields: CHALLENGE_FIELDS,
  columns: [{ path: 'authentication_status', kind: 'status', paint: statusTone }],
};

/** How the result of a challenge is shown. */
export const challengeResultView: View<Authentication> = {
  name: 'challenge result',
  fields: CHALLENGE_FIELDS,
  columns: [{ path: 'authentication_status', kind: 'status', paint: statusTone }],
};

const AUTHENTICATION_FIELDS = [
  'authentication_status',
  'authentication_status_code',
  'authentication_status_reason',
  'eci',
  'authentication_value',
  'threeds_version',
  'acs_transaction_id',
  'ds_transaction_id',
  'acs_reference_number',
  'ds_reference_number',
  'pan_token_id',
  'token_id',
  'token_intent_id',
  'acs_challenge_mandated',
  'authentication_challenge_type',
  'acs_challenge_url',
  'challenge_preference',
  'challenge_preference_code',
  'challenge_attempts',
  'challenge_cancel_reason',
  'challenge_cancel_reason_code',
  'cardholder_info',
  'whitelist_status',
  'whitelist_status_source',
  'message_extensions',
];

/** How a session is shown. */
export const sessionView: View<ThreeDsSession> = {
  name: '3DS session',
  fields: [
    'id',
    'type',
    'tenant_id',
    'card_brand',
    'token_id',
    'token_intent_id',
    'pan_token_id',
    'created_date',
    'created_by',
    'modified_date',
    'modified_by',
    'expiration_date',
    ...AUTHENTICATION_FIELDS.map((field) => `authentication.${field}`),
    'authentication.*',
    'version.recommended_version',
    'version.available_version',
    'version.earliest_acs_supported_version',
    'version.earliest_ds_supported_version',
    'version.latest_acs_supported_version',
    'version.latest_ds_supported_version',
    'version.acs_information',
    'version.*',
    'method.method_url',
    'method.method_completion_indicator',
    'method.*',
    'device',
    'device_info.*',
  ],
  columns: [
    { path: 'id', kind: 'id' },
    { path: 'authentication.authentication_status', kind: 'status', paint: statusTone },
  ],
};

function statusTone(status: unknown): Tone | undefined {
  if (status === 'successful' || status === 'attempted') return 'good';
  if (status === 'failed' || status === 'rejected') return 'bad';
  return status === 'informational' ? 'quiet' : 'warn';
}

/** A body that breaks no rule. */
export interface CheckedBody {
  readonly file: string;
  readonly valid: true;
  readonly authentication_category: string;
  readonly authentication_type: string;
  /** The types of session that it can be sent to. */
  readonly session_types: readonly string[];
}

/** How a checked body is shown. */
export const checkedBodyView: View<CheckedBody> = {
  name: 'checked body',
  fields: ['file', 'valid', 'authentication_category', 'authentication_type', 'session_types'],
  columns: [
    { path: 'file', kind: 'text' },
    { path: 'valid', kind: 'status', paint: () => 'good' },
  ],
};

// What a table of 3DS data does not show: personal data, and values that authorize. Programs get all of it, as it came.

const HIDDEN = '(hidden)';

/** What of a device's data tells nothing of a person; new members may, so they are hidden. */
const HARMLESS_DEVICE_FIELDS = new Set([
  'browser_javascript_enabled',
  'browser_java_enabled',
  'browser_color_depth',
  'browser_screen_height',
  'browser_screen_width',
  'sdk_max_timeout',
  'sdk_reference_number',
  'sdk_render_options',
]);

/** Members that are hidden wherever they stand. Some services answer without the prefix of the IP address. */
const SENSITIVE = new Set(['authentication_value', 'cardholder_info', 'browser_ip_address', 'browser_ip']);

/** Members that the interface has given up. */
const DEPRECATED = new Set(['pan', 'pan_token_id']);

/** An answer about 3DS as a table shows it; the answer itself stays as it is. `hidden` counts what was taken out. */
export function maskedResponse<T extends object>(answer: T): { shown: T; hidden: number } {
  let hidden = 0;
  const hide = (value: unknown): unknown => {
    if (value === undefined || value === null) return value;
    hidden += 1;
    return HIDDEN;
  };
  const walk = (name: string, value: unknown, holder: string): unknown => {
    if (SENSITIVE.has(name)) return hide(value);
    if (DEPRECATED.has(name) && typeof value === 'string') return `${value} (deprecated)`;
    if (holder === 'device_info' && !HARMLESS_DEVICE_FIELDS.has(name)) return hide(value);
    if (holder === 'message_extensions' && name === 'data') return hide(value);
    if (Array.isArray(value)) return value.map((item: unknown) => walk('', item, name));
    return typeof value === 'object' && value !== null ? members(value, name === '' ? holder : name) : value;
  };
  const members = (value: object, holder: string): object =>
    Object.fromEntries(Object.entries(value).map(([name, member]) => [name, walk(name, member, holder)]));
  return { shown: members(answer, '') as T, hidden };
}

/** What a value of a 3DS answer stands for. */
export interface MeaningRow {
  readonly kind: string;
  readonly name: string;
  readonly code?: string | undefined;
  readonly means: string;
  readonly liability?: string | undefined;
  readonly next: string;
}

/** How meanings are shown. */
export const meaningView: View<MeaningRow> = {
  name: 'meaning',
  fields: ['kind', 'name', 'code', 'means', 'liability', 'next'],
  columns: [
    { path: 'name', kind: 'id' },
    { path: 'code', kind: 'id' },
    { path: 'kind', kind: 'text', priority: 1 },
    { path: 'means', kind: 'text', priority: 2 },
  ],
};
