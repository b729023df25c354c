import type { Tone, View } from '../render/view.ts';
import type { Authentication } from '../schema/three-ds/authentication.ts';
import type { CreatedSession, ThreeDsSession } from '../schema/three-ds/session.ts';

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
