import * as z from 'zod';
import {
  ACCOUNT_AGES,
  ACCOUNT_CHANGES,
  ACCOUNT_TYPES,
  CARDHOLDER_AUTHENTICATION_METHODS,
  PASSWORD_CHANGES,
  PRIOR_AUTHENTICATION_METHODS,
  SHIPPING_ADDRESS_USES,
} from './request-values.ts';

const text = z.string().optional();
const flag = z.boolean().optional();

const phoneNumberSchema = z.strictObject({ country_code: text, number: text });

const addressSchema = z.strictObject({
  line1: text,
  line2: text,
  line3: text,
  postal_code: text,
  city: text,
  /** ISO 3166-2 subdivision. */
  state_code: text,
  /** ISO 3166-1 numeric, 3 digits. */
  country_code: text,
});

// Dates are YYYYMMDD. The interface spells account_created_date with one D more, so none is checked here.
const accountInfoSchema = z.strictObject({
  account_age: z.enum(ACCOUNT_AGES).optional(),
  account_last_changed: z.enum(ACCOUNT_CHANGES).optional(),
  account_change_date: text,
  account_created_date: text,
  account_pwd_last_changed: z.enum(PASSWORD_CHANGES).optional(),
  account_pwd_change_date: text,
  purchase_count_half_year: text,
  transaction_count_day: text,
  payment_account_age: text,
  transaction_count_year: text,
  payment_account_created: z.enum(ACCOUNT_AGES).optional(),
  shipping_address_first_used: z.enum(SHIPPING_ADDRESS_USES).optional(),
  shipping_address_usage_date: text,
  shipping_account_name_match: flag,
  suspicious_activity_observed: flag,
});

/** `cardholder_info` of an authenticate request. */
export const cardholderInfoSchema = z.strictObject({
  account_id: text,
  account_type: z.enum(ACCOUNT_TYPES).optional(),
  account_info: accountInfoSchema.optional(),
  authentication_info: z
    .strictObject({
      method: z.enum(CARDHOLDER_AUTHENTICATION_METHODS).optional(),
      /** UTC, YYYYMMDDhhmm. */
      timestamp: text,
      data: text,
    })
    .optional(),
  prior_authentication_info: z
    .strictObject({
      method: z.enum(PRIOR_AUTHENTICATION_METHODS).optional(),
      /** UTC, YYYYMMDDhhmm. */
      timestamp: text,
      /** ACS transaction id of the earlier transaction. */
      reference_id: text,
      data: text,
    })
    .optional(),
  name: z.string(),
  email: z.string(),
  phone_number: phoneNumberSchema.optional(),
  mobile_phone_number: phoneNumberSchema.optional(),
  work_phone_number: phoneNumberSchema.optional(),
  billing_shipping_address_match: z.enum(['Y', 'N']).optional(),
  billing_address: addressSchema.optional(),
  shipping_address: addressSchema.optional(),
});
