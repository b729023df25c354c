import * as z from 'zod';
import { cardholderInfoSchema } from './cardholder.ts';
import { AUTHENTICATION_CATEGORIES, SESSION_TYPES_BY_AUTHENTICATION_TYPE } from './request-values.ts';
import { merchantInfoSchema, purchaseInfoSchema, requestorInfoSchema } from './transaction.ts';
import { CHALLENGE_PREFERENCE_CODES } from './values.ts';

/**
 * Body of POST /3ds/sessions/{id}/authenticate: the fields, their types and values.
 * Rules between fields (what payment, recurring or merchant sessions need besides) are checked apart.
 */
export const authenticateSchema = z.strictObject({
  authentication_category: z.enum(AUTHENTICATION_CATEGORIES),
  authentication_type: z.enum(keysOf(SESSION_TYPES_BY_AUTHENTICATION_TYPE)),
  request_decoupled_challenge: z.boolean().optional(),
  /** Minutes. */
  decoupled_challenge_max_time: z.number().optional(),
  challenge_preference: z.enum(keysOf(CHALLENGE_PREFERENCE_CODES)).optional(),
  purchase_info: purchaseInfoSchema.optional(),
  merchant_info: merchantInfoSchema.optional(),
  requestor_info: requestorInfoSchema,
  cardholder_info: cardholderInfoSchema,
  broadcast_info: z.record(z.string(), z.unknown()).optional(),
  message_extensions: z
    .array(
      z.strictObject({
        id: z.string().optional(),
        name: z.string().optional(),
        critical: z.boolean().optional(),
        data: z.string().optional(),
      }),
    )
    .optional(),
});

/** Body of POST /3ds/sessions/{id}/authenticate. */
export type AuthenticateRequest = z.infer<typeof authenticateSchema>;

function keysOf<Key extends string>(table: Readonly<Record<Key, unknown>>): Key[] {
  return Object.keys(table) as Key[];
}
