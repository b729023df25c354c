// The views of 3DS sessions and authentications.

import { exactMembers } from '../base/json/exact.ts';
import { fieldPaths, isObject, statusAmong, type Tone, type View } from '../cli/output/view.ts';
import type { Authentication, ThreeDsSession } from '../schema/three-ds/session.ts';
import { AUTHENTICATION_STATUSES } from '../schema/three-ds/values.ts';

const shownStatus = statusAmong(['', ...AUTHENTICATION_STATUSES]);

export const authenticationView: View<Authentication> = {
  name: 'authentication result',
  fields: fieldPaths(`
    authentication_status eci authentication_value threeds_version acs_transaction_id
    ds_transaction_id acs_reference_number ds_reference_number acs_challenge_mandated
    authentication_challenge_type acs_challenge_url challenge_attempts message_extensions
  `),
  columns: [{ path: 'authentication_status', header: 'status', kind: 'status', show: shownStatus, paint: statusTone }],
};

const AUTHENTICATION_FIELDS = fieldPaths(`
  authentication_status authentication_status_code authentication_status_reason eci
  authentication_value threeds_version acs_transaction_id ds_transaction_id acs_reference_number
  ds_reference_number pan_token_id token_id token_intent_id acs_challenge_mandated
  authentication_challenge_type acs_challenge_url challenge_preference challenge_preference_code
  challenge_attempts challenge_cancel_reason challenge_cancel_reason_code cardholder_info
  whitelist_status whitelist_status_source message_extensions
`);

export const sessionView: View<ThreeDsSession> = {
  name: '3DS session',
  fields: [
    ...fieldPaths(`
      id type tenant_id card_brand token_id token_intent_id pan_token_id created_date created_by
      modified_date modified_by expiration_date
    `),
    ...AUTHENTICATION_FIELDS.map((field) => `authentication.${field}`),
    ...fieldPaths(`
      authentication.* version.recommended_version version.available_version
      version.earliest_acs_supported_version version.earliest_ds_supported_version
      version.latest_acs_supported_version version.latest_ds_supported_version version.acs_information
      version.* method.method_url method.method_completion_indicator method.* device device_info.*
    `),
  ],
  columns: [
    { path: 'id', kind: 'id' },
    {
      path: 'authentication.authentication_status',
      header: 'status',
      kind: 'status',
      show: shownStatus,
      paint: statusTone,
    },
  ],
};

export function statusTone(status: unknown): Tone | undefined {
  if (status === 'successful' || status === 'attempted') return 'good';
  if (status === 'failed' || status === 'rejected') return 'bad';
  return status === 'informational' ? 'quiet' : 'warn';
}

/** Device data that is not personal. Other members are hidden, since new ones may be personal. */
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

/** Members that tables hide: personal data and authentication values. Machine formats contain them. */
const SENSITIVE = new Set(['authentication_value', 'cardholder_info', 'browser_ip_address', 'browser_ip']);

/** Deprecated members. */
const DEPRECATED = new Set(['pan', 'pan_token_id']);

/** Masks a 3DS response for a table; `hidden` counts the hidden values. */
export function maskedResponse<T extends object>(response: T): { shown: T; hidden: number } {
  let hidden = 0;
  const hide = (value: unknown): unknown => {
    if (value === undefined || value === null) return value;
    hidden += 1;
    return '(hidden)';
  };
  const walk = (name: string, value: unknown, holder: string): unknown => {
    if (SENSITIVE.has(name)) return hide(value);
    if (DEPRECATED.has(name) && typeof value === 'string') return `${value} (deprecated)`;
    if (holder === 'device_info' && !HARMLESS_DEVICE_FIELDS.has(name)) return hide(value);
    if (holder === 'message_extensions' && name === 'data') return hide(value);
    if (Array.isArray(value)) return value.map((item: unknown) => walk('', item, name));
    return isObject(value) ? members(value, name === '' ? holder : name) : value;
  };
  const members = (value: object, holder: string): object =>
    Object.fromEntries(Object.entries(value).map(([name, member]) => [name, walk(name, member, holder)]));
  return { shown: members(exactMembers(response), '') as T, hidden };
}
