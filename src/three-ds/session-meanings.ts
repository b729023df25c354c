import type {
  METHOD_COMPLETION_INDICATORS,
  WHITELIST_STATUSES,
  WHITELIST_STATUS_SOURCES,
} from '../schema/three-ds/values.ts';
import { type Meaning, meaningsOf, type Said } from './meaning.ts';

const NOTHING = 'Nothing is to be done.';

const STATUSES: Readonly<Record<(typeof WHITELIST_STATUSES)[number], Said>> = {
  'merchant-trusted': {
    means: 'The cardholder lists the merchant as trusted.',
    next: 'Later payments may ask for no-challenge-whitelist-exemption.',
  },
  'merchant-not-trusted': { means: 'The cardholder does not list the merchant as trusted.', next: NOTHING },
  'not-eligible': { means: 'The issuer lets no such list be kept for this card or merchant.', next: NOTHING },
  'pending-confirmation': {
    means: 'The cardholder was asked to trust the merchant and has not responded.',
    next: 'Ask again later, in a session for whitelist-status-check.',
  },
  'request-to-trust-rejected': { means: 'The cardholder refused to trust the merchant.', next: NOTHING },
  unknown: { means: 'Whether the cardholder trusts the merchant is not known.', next: NOTHING },
};

const SOURCES: Readonly<Record<(typeof WHITELIST_STATUS_SOURCES)[number], Said>> = {
  '3ds-server': { means: 'The 3DS server set the whitelist status.', next: NOTHING },
  'directory-server': {
    means: 'The directory server of the card network set the whitelist status.',
    next: NOTHING,
  },
  acs: { means: "The issuer's access control server set the whitelist status.", next: NOTHING },
};

const METHOD: Readonly<Record<(typeof METHOD_COMPLETION_INDICATORS)[number], Said & { name: string }>> = {
  Y: {
    name: 'completed',
    means: "The device was looked at by the issuer's 3DS method.",
    next: 'Authenticate now.',
  },
  N: {
    name: 'not-completed',
    means: "The issuer's 3DS method did not complete.",
    next: 'Authenticate all the same; a challenge is more likely.',
  },
  U: {
    name: 'unavailable',
    means: 'Whether the 3DS method completed is not known, or the issuer has none.',
    next: 'Authenticate all the same.',
  },
};

/** What a session holds beside its outcome: trusted merchants, and the 3DS method. */
export const SESSION_MEANINGS: readonly Meaning[] = [
  ...meaningsOf('whitelist status', STATUSES),
  ...meaningsOf('whitelist status source', SOURCES),
  ...Object.entries(METHOD).map(([code, said]) => Object.assign({ kind: 'method completion', code }, said)),
];
