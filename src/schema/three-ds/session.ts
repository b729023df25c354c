import * as z from 'zod/mini';
import { decisiveText, displayed, text } from '../response.ts';
import { SESSION_TYPES } from './values.ts';

const flag = displayed(z.boolean());

/** The device data that SDKs collect: browser_* fields for browsers, sdk_* fields for mobile devices. */
const deviceInfoSchema = z.looseObject({
  browser_accept_header: text,
  browser_ip_address: text,
  browser_javascript_enabled: flag,
  browser_java_enabled: flag,
  /** Bit depth of the palette. */
  browser_color_depth: text,
  /** Pixels. */
  browser_screen_height: text,
  /** Pixels. */
  browser_screen_width: text,
  /** Minutes between UTC and the browser's time. */
  browser_tz: text,
  browser_user_agent: text,
  sdk_transaction_id: text,
  sdk_application_id: text,
  sdk_encryption_data: text,
  sdk_ephemeral_public_key: z.optional(z.unknown()),
  /** Minutes. */
  sdk_max_timeout: text,
  sdk_reference_number: text,
  sdk_render_options: displayed(z.looseObject({ sdk_interface: text, sdk_ui_type: displayed(z.array(z.unknown())) })),
});

/** The recommended and the possible 3DS versions. */
const versionSchema = z.looseObject({
  recommended_version: text,
  available_version: displayed(z.array(z.string())),
  earliest_acs_supported_version: text,
  earliest_ds_supported_version: text,
  latest_acs_supported_version: text,
  latest_ds_supported_version: text,
  acs_information: displayed(z.array(z.unknown())),
});

/** Response of POST /3ds/sessions/{id}/authenticate. */
export const authenticationResultSchema = z.looseObject({
  threeds_version: text,
  acs_transaction_id: text,
  ds_transaction_id: text,
  acs_reference_number: text,
  ds_reference_number: text,
  authentication_value: text,
  /** One of `AUTHENTICATION_STATUSES`, or new. */
  authentication_status: z.string(),
  eci: text,
});

/** A message extension of a response: data outside the standard format. */
const messageExtensionSchema = z.looseObject({
  id: text,
  name: text,
  critical: flag,
  /** Documented as a string. Any other type is kept too. */
  data: z.optional(z.unknown()),
});

/** Response of GET /3ds/sessions/{id}/challenge-result. */
export const challengeResultSchema = z.extend(authenticationResultSchema, {
  acs_challenge_mandated: text,
  authentication_challenge_type: text,
  acs_challenge_url: text,
  challenge_attempts: displayed(z.union([z.string(), z.number()])),
  message_extensions: displayed(z.array(messageExtensionSchema)),
});

/** The outcome of a session. Before authentication, nearly all fields are missing. */
export const authenticationSchema = z.extend(challengeResultSchema, {
  pan_token_id: text,
  token_id: text,
  token_intent_id: text,
  authentication_status: decisiveText,
  authentication_status_code: text,
  authentication_status_reason: text,
  challenge_preference: text,
  challenge_preference_code: text,
  challenge_cancel_reason: text,
  challenge_cancel_reason_code: text,
  cardholder_info: text,
  whitelist_status: text,
  whitelist_status_source: text,
});

export const threeDsSessionSchema = z.looseObject({
  id: z.string(),
  tenant_id: decisiveText,
  type: text,
  pan_token_id: text,
  token_id: text,
  token_intent_id: text,
  card_brand: text,
  expiration_date: text,
  created_date: text,
  created_by: text,
  modified_date: text,
  modified_by: text,
  /** browser or mobile. */
  device: text,
  device_info: displayed(deviceInfoSchema),
  version: displayed(versionSchema),
  method: displayed(z.looseObject({ method_url: text, method_completion_indicator: text })),
  authentication: z.nullish(authenticationSchema),
});
export type ThreeDsSession = z.infer<typeof threeDsSessionSchema>;

/** Body of POST /3ds/sessions, with exactly one of the two token fields, which this schema does not check. */
export const createSessionSchema = z.strictObject({
  token_id: z.optional(z.string()),
  token_intent_id: z.optional(z.string()),
  /** Deprecated name of `token_id`. */
  pan: z.optional(z.string()),
  type: z.enum(SESSION_TYPES),
});
/** The card of a new session, in exactly one of the two token fields. */
export type SessionCard =
  | { readonly token_id: string }
  | { readonly token_intent_id: string }
  /** Deprecated name of `token_id`. */
  | { readonly pan: string };
export type CreateSession = SessionCard & Pick<z.infer<typeof createSessionSchema>, 'type'>;

/** Response of POST /3ds/sessions. */
export const createdSessionSchema = z.looseObject({
  id: z.string(),
  type: text,
  card_brand: text,
  method_url: text,
  method_notification_url: text,
  directory_server_id: text,
  recommended_version: text,
});
export type CreatedSession = z.infer<typeof createdSessionSchema>;
export type AuthenticationResult = z.infer<typeof authenticationResultSchema>;
export type ChallengeResult = z.infer<typeof challengeResultSchema>;
export type Authentication = z.infer<typeof authenticationSchema>;
