import type { ResultCode } from '../../schema/account-updater-files.ts';
import type { ScenarioName } from '../three-ds/networks.ts';

/** A test card of the Account Updater, and what the card networks are made to say of it. */
export interface TestCard {
  readonly number: string;
  /** 2 digits. */
  readonly month: string;
  /** 4 digits. */
  readonly year: string;
  /** Empty for a network that takes no part. */
  readonly network: string;
  /** Absent for a card without any news: its row is left out of the result. */
  readonly code?: ResultCode;
  readonly newNumber?: string;
  readonly newMonth?: string;
  readonly newYear?: string;
}

/** The service's published test cards, in its order. A card's place decides its token id: append only. */
export const TEST_CARDS: readonly TestCard[] = [
  {
    number: '4111111111111111',
    month: '12',
    year: '2023',
    network: 'visa',
    code: 'UPD_PAN',
    newNumber: '4166676667666746',
  },
  {
    number: '4012888888881881',
    month: '12',
    year: '2023',
    network: 'visa',
    code: 'UPD_PAN',
    newNumber: '4212345678910006',
    newMonth: '12',
    newYear: '2026',
  },
  {
    number: '5555555555554444',
    month: '12',
    year: '2023',
    network: 'mastercard',
    code: 'UPD_PAN',
    newNumber: '5454545454545454',
  },
  {
    number: '5105105105105100',
    month: '12',
    year: '2023',
    network: 'mastercard',
    code: 'UPD_PAN',
    newNumber: '5233580618829955',
    newMonth: '12',
    newYear: '2026',
  },
  {
    number: '6011111111111117',
    month: '12',
    year: '2023',
    network: 'discover',
    code: 'UPD_PAN',
    newNumber: '6011000990139424',
  },
  {
    number: '6011601160116611',
    month: '12',
    year: '2023',
    network: 'discover',
    code: 'UPD_PAN',
    newNumber: '6445644564456445',
    newMonth: '12',
    newYear: '2026',
  },
  {
    number: '378282246310005',
    month: '12',
    year: '2023',
    network: 'amex',
    code: 'UPD_PAN',
    newNumber: '375155165213132',
  },
  {
    number: '371449635398431',
    month: '12',
    year: '2023',
    network: 'amex',
    code: 'UPD_PAN',
    newNumber: '348835199015504',
    newMonth: '12',
    newYear: '2026',
  },
  {
    number: '4539097887163333',
    month: '12',
    year: '2023',
    network: 'visa',
    code: 'UPD_EXP_DATE',
    newMonth: '12',
    newYear: '2026',
  },
  {
    number: '5325191087030619',
    month: '12',
    year: '2023',
    network: 'mastercard',
    code: 'UPD_EXP_DATE',
    newMonth: '12',
    newYear: '2026',
  },
  {
    number: '6011690151507086',
    month: '12',
    year: '2023',
    network: 'discover',
    code: 'UPD_EXP_DATE',
    newMonth: '12',
    newYear: '2026',
  },
  {
    number: '373555735376156',
    month: '12',
    year: '2023',
    network: 'amex',
    code: 'UPD_EXP_DATE',
    newMonth: '12',
    newYear: '2026',
  },
  { number: '6011760519541711', month: '12', year: '2023', network: 'discover', code: 'UPD_BRAND_CONV' },
  { number: '6011490740263725', month: '12', year: '2023', network: 'discover', code: 'UPD_CORRECTED' },
  { number: '4711358892785746', month: '12', year: '2023', network: 'visa' },
  { number: '5412000000001009', month: '12', year: '2023', network: 'mastercard' },
  { number: '4929980395567582', month: '12', year: '2023', network: 'visa', code: 'WRN_CONTACT_CARDHOLDER' },
  {
    number: '6011444770992901',
    month: '12',
    year: '2023',
    network: 'discover',
    code: 'WRN_CONTACT_CARDHOLDER',
  },
  { number: '4929544240318920', month: '12', year: '2023', network: 'visa', code: 'WRN_ISSUER_NOT_ENROLLED' },
  {
    number: '5580422612666704',
    month: '12',
    year: '2023',
    network: 'mastercard',
    code: 'WRN_ISSUER_NOT_ENROLLED',
  },
  { number: '4916725297925395', month: '12', year: '2023', network: 'visa', code: 'WRN_ISSUER_NO_DATA' },
  {
    number: '5157204564548129',
    month: '12',
    year: '2023',
    network: 'mastercard',
    code: 'WRN_ISSUER_NO_DATA',
  },
  { number: '4035501000000008', month: '12', year: '2023', network: 'visa', code: 'WRN_OPT_OUT' },
  {
    number: '5461310156953048',
    month: '12',
    year: '2023',
    network: 'mastercard',
    code: 'WRN_CLOSED_ACCOUNT',
  },
  { number: '6011168802268945', month: '12', year: '2023', network: 'discover', code: 'WRN_CLOSED_ACCOUNT' },
  { number: '370488998077498', month: '12', year: '2023', network: 'amex', code: 'WRN_CLOSED_ACCOUNT' },
  { number: '122000000000003', month: '12', year: '2023', network: '', code: 'WRN_UNSUPPORTED_NETWORK' },
  { number: '4035501428146300', month: '12', year: '2023', network: 'visa', code: 'ERR_INVALID_PAN' },
  { number: '5555341244441115', month: '12', year: '2023', network: 'mastercard', code: 'ERR_INVALID_PAN' },
  { number: '6011829379808385', month: '12', year: '2023', network: 'discover', code: 'ERR_INVALID_PAN' },
  { number: '378025849667382', month: '12', year: '2023', network: 'amex', code: 'ERR_INVALID_PAN' },
  { number: '4111111145551142', month: '12', year: '2023', network: 'visa', code: 'ERR_INVALID_EXP_DATE' },
  {
    number: '5577000055770004',
    month: '12',
    year: '2023',
    network: 'mastercard',
    code: 'ERR_INVALID_EXP_DATE',
  },
  {
    number: '6011648103759866',
    month: '12',
    year: '2023',
    network: 'discover',
    code: 'ERR_INVALID_EXP_DATE',
  },
  { number: '378734493671000', month: '12', year: '2023', network: 'amex', code: 'ERR_INVALID_EXP_DATE' },
  { number: '4111112014267661', month: '12', year: '2023', network: 'visa', code: 'ERR_INVALID_CONFIG' },
  {
    number: '5555444433331111',
    month: '12',
    year: '2023',
    network: 'mastercard',
    code: 'ERR_INVALID_CONFIG',
  },
  { number: '370000000000002', month: '12', year: '2023', network: 'amex', code: 'ERR_INVALID_CONFIG' },
  { number: '6011178332216017', month: '12', year: '2023', network: 'discover', code: 'ERR_UNDEFINED' },
];

/** A test card of 3-D Secure, and what happens when it is authenticated. */
export interface ThreeDsCard {
  readonly number: string;
  readonly network: string;
  readonly scenario: ScenarioName;
}

/** The service's published test cards, in its order. A card's place decides its token id: append only. */
export const THREE_DS_CARDS: readonly ThreeDsCard[] = [
  { number: '5204247750001471', network: 'mastercard', scenario: 'Successful Frictionless Authentication' },
  { number: '6011601160116011', network: 'discover', scenario: 'Successful Frictionless Authentication' },
  { number: '340000000004001', network: 'amex', scenario: 'Successful Frictionless Authentication' },
  { number: '4000020000000000', network: 'visa', scenario: 'Successful Challenge Authentication' },
  { number: '370000000000002', network: 'amex', scenario: 'Successful Challenge Authentication' },
  { number: '3566002020360505', network: 'jcb', scenario: 'Successful Challenge Authentication' },
  { number: '3566006663297692', network: 'jcb', scenario: 'Successful Challenge Authentication' },
  {
    number: '4005562231212123',
    network: 'visa',
    scenario: 'Successful Challenge Authentication - Method not Required',
  },
  { number: '4761369980320253', network: 'visa', scenario: 'Successful Mandated Challenge Authentication' },
  {
    number: '5200000000001104',
    network: 'mastercard',
    scenario: 'Successful Mandated Challenge Authentication',
  },
  {
    number: '4000000000000341',
    network: 'visa',
    scenario: 'Successful Out-of-Band Challenge Authentication',
  },
  { number: '4005571701111111', network: 'visa', scenario: 'Attempted Challenge Authentication' },
  { number: '4111111111111111', network: 'visa', scenario: 'Authentication Attempted' },
  { number: '5424180011113336', network: 'mastercard', scenario: 'Authentication Attempted' },
  { number: '4264281511112228', network: 'visa', scenario: 'Authentication Failed' },
  { number: '5424180000000171', network: 'mastercard', scenario: 'Authentication Failed' },
  { number: '5405001111111165', network: 'mastercard', scenario: 'Authentication Unavailable' },
  { number: '5405001111111116', network: 'mastercard', scenario: 'Authentication Rejected' },
  { number: '4055011111111111', network: 'visa', scenario: 'Failed Challenge Authentication' },
  { number: '5427660064241339', network: 'mastercard', scenario: 'Failed Challenge Authentication' },
  {
    number: '6011361011110004',
    network: 'discover',
    scenario: 'Failed Out of Band Challenge Authentication',
  },
  { number: '6011361000008888', network: 'discover', scenario: 'Unavailable Challenge Authentication' },
  { number: '6011361000001115', network: 'discover', scenario: 'Rejected Challenge Authentication' },
  { number: '4264281500003339', network: 'visa', scenario: '3DS Directory Server Error' },
  { number: '5424180011110001', network: 'mastercard', scenario: '3DS Directory Server Error' },
  { number: '4264281500001119', network: 'visa', scenario: 'Internal 3DS Server Error' },
  { number: '4200000000000002', network: 'visa', scenario: 'Successful Frictionless Authentication' },
  { number: '4200000000000004', network: 'visa', scenario: 'Successful Challenge Authentication' },
  {
    number: '4200000000000014',
    network: 'visa',
    scenario: 'Successful Challenge Authentication - Method not Required',
  },
  { number: '4200000000000015', network: 'visa', scenario: 'Successful Mandated Challenge Authentication' },
  {
    number: '4200000000000016',
    network: 'visa',
    scenario: 'Successful Out-of-Band Challenge Authentication',
  },
  { number: '4200000000000008', network: 'visa', scenario: 'Attempted Challenge Authentication' },
  { number: '4200000000000003', network: 'visa', scenario: 'Authentication Attempted' },
  { number: '4200000000000005', network: 'visa', scenario: 'Authentication Failed' },
  { number: '4200000000000006', network: 'visa', scenario: 'Authentication Unavailable' },
  { number: '4200000000000007', network: 'visa', scenario: 'Authentication Rejected' },
  { number: '4200000000000009', network: 'visa', scenario: 'Failed Challenge Authentication' },
  { number: '4200000000000017', network: 'visa', scenario: 'Failed Out of Band Challenge Authentication' },
  { number: '4200000000000010', network: 'visa', scenario: 'Unavailable Challenge Authentication' },
  { number: '4200000000000011', network: 'visa', scenario: 'Rejected Challenge Authentication' },
  { number: '4200000000000012', network: 'visa', scenario: '3DS Directory Server Error' },
  { number: '4200000000000013', network: 'visa', scenario: 'Internal 3DS Server Error' },
];
