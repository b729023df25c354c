import * as z from 'zod';
import { DELIVERY_TIME_FRAMES, SHIPPING_METHODS, TRANSACTION_TYPES } from './request-values.ts';

const text = z.string().optional();

/** `purchase_info` of an authenticate request. Which fields are needed depends on category and type. */
export const purchaseInfoSchema = z.strictObject({
  /** Digits without punctuation, in minor units. */
  amount: text,
  /** ISO 4217. */
  currency: text,
  /** ISO 4217 minor units. */
  exponent: text,
  /** UTC, YYYYMMDDhhmmss. */
  date: text,
  transaction_type: z.enum(TRANSACTION_TYPES).optional(),
  installment_count: text,
  /** YYYYMMDD. */
  recurring_expiration: text,
  /** Days. */
  recurring_frequency: text,
});

const riskInfoSchema = z.strictObject({
  delivery_email: text,
  delivery_time_frame: z.enum(DELIVERY_TIME_FRAMES).optional(),
  gift_card_amount: text,
  gift_card_count: text,
  gift_card_currency: text,
  pre_order_purchase: z.boolean().optional(),
  /** YYYYMMDD. */
  pre_order_date: text,
  reordered_purchase: z.boolean().optional(),
  shipping_method: z.enum(SHIPPING_METHODS).optional(),
});

/** `merchant_info` of an authenticate request. Needed when the category is payment. */
export const merchantInfoSchema = z.strictObject({
  mid: text,
  acquirer_bin: text,
  name: text,
  /** ISO 3166-1 numeric, 3 digits. */
  country_code: text,
  category_code: text,
  risk_info: riskInfoSchema.optional(),
});

/** `requestor_info` of an authenticate request. What id and name hold depends on the card network. */
export const requestorInfoSchema = z.strictObject({ id: z.string(), name: z.string(), url: z.string() });
