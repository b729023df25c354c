import type { ScenarioName } from '../three-ds/networks.ts';

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
