import * as z from 'zod';
import { country, day, digits, filled, flag, looseDay, matching, minute, oneOf, text } from './formats.ts';
import {
  ACCOUNT_AGES,
  ACCOUNT_CHANGES,
  ACCOUNT_TYPES,
  CARDHOLDER_AUTHENTICATION_METHODS,
  PASSWORD_CHANGES,
  PRIOR_AUTHENTICATION_METHODS,
  SHIPPING_ADDRESS_USES,
} from './request-values.ts';

const phoneNumberSchema = z
  .strictObject({
    country_code: text('the country code of the phone number', '1').optional(),
    number: text('the phone number without its country code', '5550100').optional(),
  })
  .meta({ description: 'a phone number of the cardholder' });

const addressSchema = z
  .strictObject({
    line1: text('the first line of the address', '1 Main Street').optional(),
    line2: text('the second line of the address', 'Floor 2').optional(),
    line3: text('the third line of the address', 'Room 3').optional(),
    postal_code: text('the postal code', '94105').optional(),
    city: text('the city', 'San Francisco').optional(),
    state_code: matching(
      /^(?:[A-Z]{2}-)?[A-Z0-9]{1,3}$/,
      'the ISO 3166-2 code of the subdivision',
      'CA',
    ).optional(),
    country_code: country('the country of the address').optional(),
  })
  .meta({ description: 'an address of the cardholder' });

const accountInfoSchema = z
  .strictObject({
    account_age: oneOf(ACCOUNT_AGES, 'how long the account exists').optional(),
    account_last_changed: oneOf(ACCOUNT_CHANGES, 'when the account was last changed').optional(),
    account_change_date: day('the date of the last change of the account', '20251101').optional(),
    account_created_date: looseDay('the date on which the account was made', '20240517').optional(),
    account_pwd_last_changed: oneOf(PASSWORD_CHANGES, 'when the password was last changed').optional(),
    account_pwd_change_date: day('the date of the last change of the password', '20251101').optional(),
    purchase_count_half_year: digits(
      'the number of purchases in the last six months, digits',
      '4',
    ).optional(),
    transaction_count_day: digits('the number of transactions in the last 24 hours, digits', '1').optional(),
    payment_account_age: day('the date on which the payment method was added', '20240517').optional(),
    transaction_count_year: digits('the number of transactions in the last year, digits', '9').optional(),
    payment_account_created: oneOf(ACCOUNT_AGES, 'how long the payment method is on file').optional(),
    shipping_address_first_used: oneOf(
      SHIPPING_ADDRESS_USES,
      'when the shipping address was first used',
    ).optional(),
    shipping_address_usage_date: day(
      'the date of the first use of the shipping address',
      '20240517',
    ).optional(),
    shipping_account_name_match: flag('whether the shipping name is the name on the account').optional(),
    suspicious_activity_observed: flag('whether suspicious activity was seen on the account').optional(),
  })
  .meta({ description: "the cardholder's account with the merchant" });

const authenticationInfoSchema = z
  .strictObject({
    method: oneOf(CARDHOLDER_AUTHENTICATION_METHODS, 'how the cardholder signed in').optional(),
    timestamp: minute('the time of the sign-in', '202601310925').optional(),
    data: text('what proves the sign-in', 'reference of the sign-in').optional(),
  })
  .meta({ description: 'how the cardholder signed in with the merchant' });

const priorAuthenticationInfoSchema = z
  .strictObject({
    method: oneOf(PRIOR_AUTHENTICATION_METHODS, 'how the cardholder was authenticated earlier').optional(),
    timestamp: minute('the time of the earlier authentication', '202512310925').optional(),
    reference_id: text(
      'the ACS transaction id of the earlier transaction',
      'd7c1ee99-9478-44a6-b1f2-391e29c6b340',
    ).optional(),
    data: text('what proves the earlier authentication', 'reference of the authentication').optional(),
  })
  .meta({ description: 'an earlier 3DS authentication of the cardholder' });

/** `cardholder_info` of an authenticate request. */
export const cardholderInfoSchema = z
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
    billing_shipping_address_match: oneOf(
      ['Y', 'N'],
      'whether billing and shipping address are the same',
    ).optional(),
    billing_address: addressSchema.optional(),
    shipping_address: addressSchema.optional(),
  })
  .meta({ description: 'the cardholder; issuers commonly expect name and email' });
