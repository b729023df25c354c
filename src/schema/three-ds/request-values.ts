import type { SessionType } from './values.ts';

// Values that an authenticate request may carry. Free of zod.

/** Whether money is exchanged, or cards are only added to accounts. */
export const AUTHENTICATION_CATEGORIES = ['payment', 'non-payment'] as const;

/** Authentication types, and the session types that each goes with. */
export const SESSION_TYPES_BY_AUTHENTICATION_TYPE = {
  'payment-transaction': ['customer'],
  'cardholder-emv-verification': ['customer'],
  'split-or-delayed-shipment': ['merchant'],
  'top-up': ['merchant'],
  'mail-order': ['merchant'],
  'telephone-order': ['merchant'],
  'whitelist-status-check': ['merchant'],
  'other-payment': ['merchant'],
  'billing-agreement': ['merchant'],
  'recurring-transaction': ['customer', 'merchant'],
  'installment-transaction': ['customer', 'merchant'],
  'add-card': ['customer', 'merchant'],
  'maintain-card': ['customer', 'merchant'],
  'account-verification': ['customer', 'merchant'],
} as const satisfies Readonly<Record<string, readonly SessionType[]>>;

/** An authentication type of the interface. */
export type AuthenticationType = keyof typeof SESSION_TYPES_BY_AUTHENTICATION_TYPE;

/** Kinds of transaction in `purchase_info.transaction_type`. */
export const TRANSACTION_TYPES = [
  'purchase',
  'check-acceptance',
  'account-funding',
  'quasi-cash',
  'prepaid-activation-load',
] as const;

/** Values of `merchant_info.risk_info.delivery_time_frame`. */
export const DELIVERY_TIME_FRAMES = [
  'electronic-delivery',
  'same-day-shipping',
  'overnight-shipping',
  'two-or-more-day-shipping',
] as const;

/** Values of `merchant_info.risk_info.shipping_method`. */
export const SHIPPING_METHODS = [
  'ship-to-billing-address',
  'ship-to-verified-address',
  'ship-to-different-address',
  'ship-to-store',
  'digital-goods',
  'travel-and-event-tickets',
  'other',
] as const;

/** Values of `cardholder_info.account_type`. */
export const ACCOUNT_TYPES = ['debit', 'credit'] as const;

const LONGER_AGES = ['less-than-30-days', '30-to-60-days', 'more-than-60-days'] as const;

/** Values of `account_age` and `payment_account_created`. */
export const ACCOUNT_AGES = ['no-account', 'created-this-transaction', ...LONGER_AGES] as const;

/** Values of `account_last_changed`. */
export const ACCOUNT_CHANGES = ['changed-this-transaction', ...LONGER_AGES] as const;

/** Values of `account_pwd_last_changed`. */
export const PASSWORD_CHANGES = ['no-change', 'changed-this-transaction', ...LONGER_AGES] as const;

/** Values of `shipping_address_first_used`. */
export const SHIPPING_ADDRESS_USES = ['this-transaction', ...LONGER_AGES] as const;

/** Values of `cardholder_info.authentication_info.method`. */
export const CARDHOLDER_AUTHENTICATION_METHODS = [
  'no-login',
  'username-password',
  'federated-id',
  'issuer-credentials',
  'third-party',
  'fido',
  'fido-data-signed',
  'src-assurance-data',
] as const;

/** Values of `cardholder_info.prior_authentication_info.method`. */
export const PRIOR_AUTHENTICATION_METHODS = ['frictionless', 'challenged', 'avs-verified', 'other'] as const;
