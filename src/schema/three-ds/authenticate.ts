import * as z from 'zod';
import { cardholderInfoSchema } from './cardholder.ts';
import { flag, oneOf, text } from './formats.ts';
import { AUTHENTICATION_CATEGORIES, SESSION_TYPES_BY_AUTHENTICATION_TYPE } from './request-values.ts';
import { merchantInfoSchema, purchaseInfoSchema, requestorInfoSchema } from './transaction.ts';
import { CHALLENGE_PREFERENCE_CODES } from './values.ts';

const messageExtensionSchema = z
  .strictObject({
    id: text('the id of the extension', 'A000000802').optional(),
    name: text('the name of the extension', 'example extension').optional(),
    critical: flag('whether the receiver must know the extension').optional(),
    data: text('what the extension carries', 'anything').optional(),
  })
  .meta({ description: 'data for requirements outside the standard format' });

/**
 * Body of POST /3ds/sessions/{id}/authenticate: the fields, their types, values and formats.
 * Rules between fields (what payment, recurring or merchant sessions need besides) are checked apart.
 */
export const authenticateSchema = z.strictObject({
  authentication_category: oneOf(
    AUTHENTICATION_CATEGORIES,
    'whether money is exchanged, or cards are only added to accounts',
  ),
  authentication_type: oneOf(
    keysOf(SESSION_TYPES_BY_AUTHENTICATION_TYPE),
    'what is authenticated; the session type decides which are allowed',
  ),
  request_decoupled_challenge: flag(
    'whether the issuer may challenge apart from the session; true for merchant sessions unless given',
  ).optional(),
  decoupled_challenge_max_time: z
    .int()
    .positive()
    .meta({ description: 'the minutes that a decoupled challenge may take, a whole number', examples: [60] })
    .optional(),
  challenge_preference: oneOf(
    keysOf(CHALLENGE_PREFERENCE_CODES),
    'whether a challenge is wished for',
  ).optional(),
  purchase_info: purchaseInfoSchema.optional(),
  merchant_info: merchantInfoSchema.optional(),
  requestor_info: requestorInfoSchema,
  cardholder_info: cardholderInfoSchema,
  broadcast_info: z
    .record(z.string(), z.unknown())
    .meta({ description: 'unstructured data for the 3DS server, the directory server and the ACS' })
    .optional(),
  message_extensions: z
    .array(messageExtensionSchema)
    .meta({ description: 'data for requirements outside the standard format' })
    .optional(),
});

/** Body of POST /3ds/sessions/{id}/authenticate. */
export type AuthenticateRequest = z.infer<typeof authenticateSchema>;

function keysOf<Key extends string>(table: Readonly<Record<Key, unknown>>): Key[] {
  return Object.keys(table) as Key[];
}
