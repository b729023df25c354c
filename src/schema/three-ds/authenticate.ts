import * as z from 'zod/mini';
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
  numericCode,
  oneOf,
  second,
  text,
  textThat,
} from './formats.ts';
import * as values from './values.ts';

const messageExtensionSchema = anyOf('data for requirements outside the standard format', {
  id: text('the id of the extension', 'A000000802'),
  name: text('the name of the extension', 'example extension'),
  critical: flag('whether the receiver must know the extension'),
  data: text('what the extension carries', 'anything'),
});

/** `purchase_info` of an authenticate request. The category and type decide which fields are needed. */
const purchaseInfoSchema = anyOf('what is paid for, how much and when', {
  amount: digits('the amount in minor units, digits without punctuation', '1000'),
  currency: currency('the currency of the amount'),
  exponent: matching(/^[0-4]$/, 'the ISO 4217 minor units of the currency, one digit from 0 to 4', '2'),
  date: second('the date of the purchase', '20260131093000'),
  transaction_type: oneOf(values.TRANSACTION_TYPES, 'the kind of transaction'),
  installment_count: digits('the maximum number of installments, digits', '12'),
  recurring_expiration: day('the date of the final authorization', '20301231'),
  recurring_frequency: digits('the minimum number of days between authorizations, digits', '28'),
});

const riskInfoSchema = anyOf('what tells the issuer how risky the purchase is', {
  delivery_email: text('the address that an electronic delivery goes to', 'ann@example.com'),
  delivery_time_frame: oneOf(values.DELIVERY_TIME_FRAMES, 'how soon the goods arrive'),
  gift_card_amount: digits('the total of gift cards bought, digits', '5000'),
  gift_card_count: digits('the number of gift cards bought, digits', '1'),
  gift_card_currency: numericCode('the currency of the gift cards'),
  pre_order_purchase: flag('whether the goods are not yet available'),
  pre_order_date: day('the date from which the goods are available', '20260301'),
  reordered_purchase: flag('whether the cardholder bought the same before'),
  shipping_method: oneOf(values.SHIPPING_METHODS, 'how the goods are shipped'),
});

/** `merchant_info` of an authenticate request. Needed for the category payment. */
const merchantInfoSchema = anyOf('the merchant as the card network knows it', {
  mid: filled('the merchant identifier', '9876543210001'),
  acquirer_bin: filled('the merchant or acquirer BIN from the card scheme', '414141'),
  name: filled("the merchant's name in the payment system", 'Example Shop'),
  country_code: country("the merchant's country"),
  category_code: filled('the merchant category code', '5411'),
  risk_info: riskInfoSchema,
});

/** `requestor_info` of an authenticate request. The form of id and name depends on the card network. */
const requestorInfoSchema = z
  .strictObject({
    id: filled('the requestor id; how it is made up depends on the card network', '9876543210001'),
    name: filled('the requestor name; what it contains depends on the card network', 'Example Shop'),
    url: textThat(
      z.refine((value: string) => /^https?:\/\//i.test(value) && URL.canParse(value)),
      "the requestor's business address, beginning with https:// or http://",
      'https://shop.example',
    ),
  })
  .check(z.meta({ description: 'who asks for the authentication' }));

const accountInfoSchema = anyOf("the cardholder's account with the merchant", {
  account_age: oneOf(values.ACCOUNT_AGES, 'how long the account exists'),
  account_last_changed: oneOf(values.ACCOUNT_CHANGES, 'when the account was last changed'),
  account_change_date: day('the date of the last change of the account', '20251101'),
  account_created_date: looseDay('the date on which the account was made', '20240517'),
  account_pwd_last_changed: oneOf(values.PASSWORD_CHANGES, 'when the password was last changed'),
  account_pwd_change_date: day('the date of the last change of the password', '20251101'),
  purchase_count_half_year: digits('the number of purchases in the last six months, digits', '4'),
  transaction_count_day: digits('the number of transactions in the last 24 hours, digits', '1'),
  payment_account_age: day('the date on which the payment method was added', '20240517'),
  transaction_count_year: digits('the number of transactions in the last year, digits', '9'),
  payment_account_created: oneOf(values.ACCOUNT_AGES, 'how long the payment method is on file'),
  shipping_address_first_used: oneOf(values.SHIPPING_ADDRESS_USES, 'when the shipping address was first used'),
  shipping_address_usage_date: day('the date of the first use of the shipping address', '20240517'),
  shipping_account_name_match: flag('whether the shipping name is the name on the account'),
  suspicious_activity_observed: flag('whether suspicious activity was seen on the account'),
});

const authenticationInfoSchema = anyOf('how the cardholder signed in with the merchant', {
  method: oneOf(values.CARDHOLDER_AUTHENTICATION_METHODS, 'how the cardholder signed in'),
  timestamp: minute('the time of the sign-in', '202601310925'),
  data: text('what proves the sign-in', 'reference of the sign-in'),
});

const priorAuthenticationInfoSchema = anyOf('an earlier 3DS authentication of the cardholder', {
  method: oneOf(values.PRIOR_AUTHENTICATION_METHODS, 'how the cardholder was authenticated earlier'),
  timestamp: minute('the time of the earlier authentication', '202512310925'),
  reference_id: text('the ACS transaction id of the earlier transaction', 'd7c1ee99-9478-44a6-b1f2-391e29c6b340'),
  data: text('what proves the earlier authentication', 'reference of the authentication'),
});

const phoneNumberSchema = anyOf('a phone number of the cardholder', {
  country_code: text('the country code of the phone number', '1'),
  number: text('the phone number without its country code', '5550100'),
});

const addressSchema = anyOf('an address of the cardholder', {
  line1: text('the first line of the address', '1 Main Street'),
  line2: text('the second line of the address', 'Floor 2'),
  line3: text('the third line of the address', 'Room 3'),
  postal_code: text('the postal code', '94105'),
  city: text('the city', 'San Francisco'),
  state_code: matching(/^(?:[A-Z]{2}-)?[A-Z0-9]{1,3}$/, 'the ISO 3166-2 code of the subdivision', 'CA'),
  country_code: country('the country of the address'),
});

/** `cardholder_info` of an authenticate request. */
const cardholderInfoSchema = z
  .strictObject({
    account_id: z.optional(text("the cardholder's reference in the merchant's system", 'customer-42')),
    account_type: z.optional(oneOf(values.ACCOUNT_TYPES, 'the kind of account')),
    account_info: z.optional(accountInfoSchema),
    authentication_info: z.optional(authenticationInfoSchema),
    prior_authentication_info: z.optional(priorAuthenticationInfoSchema),
    name: filled("the cardholder's name", 'Ann Example'),
    email: filled("the cardholder's email address", 'ann@example.com'),
    phone_number: z.optional(phoneNumberSchema),
    mobile_phone_number: z.optional(phoneNumberSchema),
    work_phone_number: z.optional(phoneNumberSchema),
    billing_shipping_address_match: z.optional(oneOf(['Y', 'N'], 'whether billing and shipping address are the same')),
    billing_address: z.optional(addressSchema),
    shipping_address: z.optional(addressSchema),
  })
  .check(z.meta({ description: 'the cardholder; issuers commonly expect name and email' }));

/**
 * Body of POST /3ds/sessions/{id}/authenticate: the fields, their types, values and formats. `needs.ts` has the fields that
 * payments, recurring payments and merchant sessions need besides.
 */
export const authenticateSchema = z.strictObject({
  authentication_category: oneOf(
    values.AUTHENTICATION_CATEGORIES,
    'whether money is exchanged, or cards are only added to accounts',
  ),
  authentication_type: oneOf(
    keysOf(values.SESSION_TYPES_BY_AUTHENTICATION_TYPE),
    'what is authenticated; the session type decides which are allowed',
  ),
  request_decoupled_challenge: z.optional(
    flag('whether the issuer may challenge apart from the session; true for merchant sessions unless given'),
  ),
  decoupled_challenge_max_time: z.optional(
    z
      .number()
      .check(
        z.positive(),
        z.meta({ description: 'the minutes that a decoupled challenge may take, more than 0', examples: [60] }),
      ),
  ),
  challenge_preference: z.optional(
    oneOf(keysOf(values.CHALLENGE_PREFERENCE_CODES), 'whether a challenge is wished for'),
  ),
  purchase_info: z.optional(purchaseInfoSchema),
  merchant_info: z.optional(merchantInfoSchema),
  requestor_info: requestorInfoSchema,
  cardholder_info: cardholderInfoSchema,
  broadcast_info: z.optional(
    z
      .record(z.string(), z.unknown())
      .check(z.meta({ description: 'unstructured data for the 3DS server, the directory server and the ACS' })),
  ),
  message_extensions: z.optional(
    z.array(messageExtensionSchema).check(z.meta({ description: 'data for requirements outside the standard format' })),
  ),
});
/** The maximum number of `message_extensions` for a check: zod collects the issues of all items on the stack. */
export const MAX_EXTENSIONS = 1000;

export type AuthenticateRequest = z.infer<typeof authenticateSchema>;

function keysOf<Key extends string>(table: Readonly<Record<Key, unknown>>): Key[] {
  return Object.keys(table) as Key[];
}

/** Declares an object whose members are all optional, without unknown members. */
function anyOf<Shape extends z.core.$ZodShape>(description: string, shape: Shape) {
  return z.partial(z.strictObject(shape)).check(z.meta({ description }));
}
