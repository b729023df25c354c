import * as z from 'zod';

const text = z.string().nullish();

/** Data for requirements outside the standard format, as answered. */
const messageExtensionSchema = z.looseObject({
  id: text,
  name: text,
  critical: z.boolean().nullish(),
  /** A string by the interface; whatever comes is kept. */
  data: z.unknown().optional(),
});

/** Answer of POST /3ds/sessions/{id}/authenticate. */
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

/** Answer of POST /3ds/sessions/{id}/authenticate. */
export type AuthenticationResult = z.infer<typeof authenticationResultSchema>;

/** Answer of GET /3ds/sessions/{id}/challenge-result. */
export const challengeResultSchema = authenticationResultSchema.extend({
  acs_challenge_mandated: text,
  authentication_challenge_type: text,
  acs_challenge_url: text,
  challenge_attempts: z.union([z.string(), z.number()]).nullish(),
  message_extensions: z.array(messageExtensionSchema).nullish(),
});

/** Answer of GET /3ds/sessions/{id}/challenge-result. */
export type ChallengeResult = z.infer<typeof challengeResultSchema>;

/** The outcome as a session read carries it; before authentication hardly any field is there. */
export const authenticationSchema = challengeResultSchema.extend({
  pan_token_id: text,
  token_id: text,
  token_intent_id: text,
  authentication_status: text,
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

/** The outcome as a session read carries it. */
export type Authentication = z.infer<typeof authenticationSchema>;
