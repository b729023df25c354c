import * as z from 'zod';
import { currency, country, day, digits, filled, flag, matching, oneOf, second, text } from './formats.ts';
import { DELIVERY_TIME_FRAMES, SHIPPING_METHODS, TRANSACTION_TYPES } from './request-values.ts';

/** `purchase_info` of an authenticate request. Which fields are needed depends on category and type. */
export const purchaseInfoSchema = z
  .strictObject({
    amount: digits('the amount in minor units, digits without punctuation', '1000').optional(),
    currency: currency('the currency of the amount').optional(),
    exponent: matching(
      /^[0-4]$/,
      'the ISO 4217 minor units of the currency, one digit from 0 to 4',
      '2',
    ).optional(),
    date: second('the date of the purchase', '20260131093000').optional(),
    transaction_type: oneOf(TRANSACTION_TYPES, 'the kind of transaction').optional(),
    installment_count: digits('the maximum number of installments, digits', '12').optional(),
    recurring_expiration: day('the date of the final authorization', '20301231').optional(),
    recurring_frequency: digits('the minimum number of days between authorizations, digits', '28').optional(),
  })
  .meta({ description: 'what is paid for, how much and when' });

const riskInfoSchema = z
  .strictObject({
    delivery_email: text('the address that an electronic delivery goes to', 'ann@example.com').optional(),
    delivery_time_frame: oneOf(DELIVERY_TIME_FRAMES, 'how soon the goods arrive').optional(),
    gift_card_amount: digits('the total of gift cards bought, digits', '5000').optional(),
    gift_card_count: digits('the number of gift cards bought, digits', '1').optional(),
    gift_card_currency: currency('the currency of the gift cards').optional(),
    pre_order_purchase: flag('whether the goods are not yet available').optional(),
    pre_order_date: day('the date from which the goods are available', '20260301').optional(),
    reordered_purchase: flag('whether the cardholder bought the same before').optional(),
    shipping_method: oneOf(SHIPPING_METHODS, 'how the goods are shipped').optional(),
  })
  .meta({ description: 'what tells the issuer how risky the purchase is' });

/** `merchant_info` of an authenticate request. Needed when the category is payment. */
export const merchantInfoSchema = z
  .strictObject({
    mid: filled('the merchant identifier', '9876543210001').optional(),
    acquirer_bin: filled('the merchant or acquirer BIN from the card scheme', '414141').optional(),
    name: filled("the merchant's name in the payment system", 'Example Shop').optional(),
    country_code: country("the merchant's country").optional(),
    category_code: filled('the merchant category code', '5411').optional(),
    risk_info: riskInfoSchema.optional(),
  })
  .meta({ description: 'the merchant as the card network knows it' });

/** `requestor_info` of an authenticate request. What id and name hold depends on the card network. */
export const requestorInfoSchema = z
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
