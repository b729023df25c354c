import * as z from 'zod';
import {
  country,
  currency,
  day,
  digits,
  filled,
  flag,
  looseDay,
  matching,
  minute,
  oneOf,
  second,
  text,
} from './formats.ts';
import {
  ACCOUNT_AGES,
  ACCOUNT_CHANGES,
  ACCOUNT_TYPES,
  AUTHENTICATION_CATEGORIES,
  CARDHOLDER_AUTHENTICATION_METHODS,
  CHALLENGE_PREFERENCE_CODES,
  DELIVERY_TIME_FRAMES,
  PASSWORD_CHANGES,
  PRIOR_AUTHENTICATION_METHODS,
  SESSION_TYPES_BY_AUTHENTICATION_TYPE,
  SHIPPING_ADDRESS_USES,
  SHIPPING_METHODS,
  TRANSACTION_TYPES,
} from './values.ts';

const messageExtensionSchema = z
  .strictObject({
    id: text('the id of the extension', 'A000000802'),
    name: text('the name of the extension', 'example extension'),
    critical: flag('whether the receiver must know the extension'),
    data: text('what the extension carries', 'anything'),
  })
  .partial()
  .meta({ description: 'data for requirements outside the standard format' });

/** `purchase_info` of an authenticate request. Which fields are needed depends on category and type. */
const purchaseInfoSchema = z
  .strictObject({
    amount: digits('the amount in minor units, digits without punctuation', '1000'),
    currency: currency('the currency of the amount'),
    exponent: matching(/^[0-4]$/, 'the ISO 4217 minor units of the currency, one digit from 0 to 4', '2'),
    date: second('the date of the purchase', '20260131093000'),
    transaction_type: oneOf(TRANSACTION_TYPES, 'the kind of transaction'),
    installment_count: digits('the maximum number of installments, digits', '12'),
    recurring_expiration: day('the date of the final authorization', '20301231'),
    recurring_frequency: digits('the minimum number of days between authorizations, digits', '28'),
  })
  .partial()
  .meta({ description: 'what is paid for, how much and when' });

const riskInfoSchema = z
  .strictObject({
    delivery_email: text('the address that an electronic delivery goes to', 'ann@example.com'),
    delivery_time_frame: oneOf(DELIVERY_TIME_FRAMES, 'how soon the goods arrive'),
    gift_card_amount: digits('the total of gift cards bought, digits', '5000'),
    gift_card_count: digits('the number of gift cards bought, digits', '1'),
    gift_card_currency: currency('the currency of the gift cards'),
    pre_order_purchase: flag('whether the goods are not yet available'),
    pre_order_date: day('the date from which the goods are available', '20260301'),
    reordered_purchase: flag('whether the cardholder bought the same before'),
    shipping_method: oneOf(SHIPPING_METHODS, 'how the goods are shipped'),
  })
  .partial()
  .meta({ description: 'what tells the issuer how risky the purchase is' });

/** `merchant_info` of an authenticate request. Needed when the category is payment. */
const merchantInfoSchema = z
  .strictObject({
    mid: filled('the merchant identifier', '9876543210001'),
    acquirer_bin: filled('the merchant or acquirer BIN from the card scheme', '414141'),
    name: filled("the merchant's name in the payment system", 'Example Shop'),
    country_code: country("the merchant's country"),
    category_code: filled('the merchant category code', '5411'),
    risk_info: riskInfoSchema,
  })
  .partial()
  .meta({ description: 'the merchant as the card network knows it' });

/** `requestor_info` of an authenticate request. What id and name hold depends on the card network. */
const requestorInfoSchema = z
  .strictObject({
    id: filled('the requestor id; how it is made up depends on the card network', '9876543210001'),
    name: filled('the requestor name; what it holds depends on the card network', 'Example Shop'),
    url: z
      .string()
      .refine((value) => /^https?:\/\//i.test(value) && URL.canParse(value))
      .meta({
        description: "the requestor's business address, beginning with https:// or http://",
        examples: ['https://shop.example'],
      }),
  })
  .meta({ description: 'who asks for the authentication' });

const accountInfoSchema = z
  .strictObject({
    account_age: oneOf(ACCOUNT_AGES, 'how long the account exists'),
    account_last_changed: oneOf(ACCOUNT_CHANGES, 'when the account was last changed'),
    account_change_date: day('the date of the last change of the account', '20251101'),
    account_created_date: looseDay('the date on which the account was made', '20240517'),
    account_pwd_last_changed: oneOf(PASSWORD_CHANGES, 'when the password was last changed'),
    account_pwd_change_date: day('the date of the last change of the password', '20251101'),
    purchase_count_half_year: digits('the number of purchases in the last six months, digits', '4'),
    transaction_count_day: digits('the number of transactions in the last 24 hours, digits', '1'),
    payment_account_age: day('the date on which the payment method was added', '20240517'),
    transaction_count_year: digits('the number of transactions in the last year, digits', '9'),
    payment_account_created: oneOf(ACCOUNT_AGES, 'how long the payment method is on file'),
    shipping_address_first_used: oneOf(SHIPPING_ADDRESS_USES, 'when the shipping address was first used'),
    shipping_address_usage_date: day('the date of the first use of the shipping address', '20240517'),
    shipping_account_name_match: flag('whether the shipping name is the name on the account'),
    suspicious_activity_observed: flag('whether suspicious activity was seen on the account'),
  })
  .partial()
  .meta({ description: "the cardholder's account with the merchant" });

const authenticationInfoSchema = z
  .strictObject({
    method: oneOf(CARDHOLDER_AUTHENTICATION_METHODS, 'how the cardholder signed in'),
    timestamp: minute('the time of the sign-in', '202601310925'),
    data: text('what proves the sign-in', 'reference of the sign-in'),
  })
  .partial()
  .meta({ description: 'how the cardholder signed in with the merchant' });

const priorAuthenticationInfoSchema = z
  .strictObject({
    method: oneOf(PRIOR_AUTHENTICATION_METHODS, 'how the cardholder was authenticated earlier'),
    timestamp: minute('the time of the earlier authentication', '202512310925'),
    reference_id: text('the ACS transaction id of the earlier transaction', 'd7c1ee99-9478-44a6-b1f2-391e29c6b340'),
    data: text('what proves the earlier authentication', 'reference of the authentication'),
  })
  .partial()
  .meta({ description: 'an earlier 3DS authentication of the cardholder' });

const phoneNumberSchema = z
  .strictObject({
    country_code: text('the country code of the phone number', '1'),
    number: text('the phone number without its country code', '5550100'),
  })
  .partial()
  .meta({ description: 'a phone number of the cardholder' });

const addressSchema = z
  .strictObject({
    line1: text('the first line of the address', '1 Main Street'),
    line2: text('the second line of the address', 'Floor 2'),
    line3: text('the third line of the address', 'Room 3'),
    postal_code: text('the postal code', '94105'),
    city: text('the city', 'San Francisco'),
    state_code: matching(/^(?:[A-Z]{2}-)?[A-Z0-9]{1,3}$/, 'the ISO 3166-2 code of the subdivision', 'CA'),
    country_code: country('the country of the address'),
  })
  .partial()
  .meta({ description: 'an address of the cardholder' });

/** `cardholder_info` of an authenticate request. */
const cardholderInfoSchema = z
  .strictObject({
    account_id: text("the cardholder's reference in the merchant's system", 'customer-42').optional(),
    account_type: oneOf(ACCOUNT_TYPES, 'the kind of account').optional(),
    account_info: accountInfoSchema.optional(),
    authentication_info: authenticationInfoSchema.optional(),
    prior_authentication_info: priorAuthenticationInfoSchema.optional(),
    name: filled("the cardholder's name", 'Ann Example'),
    email: filled("the cardholder's email address", 'ann@example.com'),
    phone_number: phoneNumberSchema.optional(),
    mobile_phone_number: phoneNumberSchema.optional(),
    work_phone_number: phoneNumberSchema.optional(),
    billing_shipping_address_match: oneOf(['Y', 'N'], 'whether billing and shipping address are the same').optional(),
    billing_address: addressSchema.optional(),
    shipping_address: addressSchema.optional(),
  })
  .meta({ description: 'the cardholder; issuers commonly expect name and email' });

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
  challenge_preference: oneOf(keysOf(CHALLENGE_PREFERENCE_CODES), 'whether a challenge is wished for').optional(),
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
