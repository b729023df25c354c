import { isObject, parsedJson } from '../../schema/json-value.ts';
import type { TenantType } from '../../schema/tenant.ts';
import type { AuthenticateRequest } from '../../schema/three-ds/authenticate.ts';
import type {
  AuthenticationStatus,
  AuthenticationType,
  CancelReason,
  CHALLENGE_PREFERENCE_CODES,
  ChallengeType,
  SessionType,
  StatusReason,
  WhitelistSource,
  WhitelistStatus,
} from '../../schema/three-ds/values.ts';
import type { JobIds } from '../options.ts';
import type { ScenarioName } from '../seed/test-cards.ts';

/** The events of the journal, by type, one per line. The state is a function of these events and the time. */
interface Events {
  /** The first line: the origin of generated data. */
  start: {
    readonly seed: number;
    /** The key that signs the store's addresses, in hexadecimal. */
    readonly secret: string;
    /** The number of generated logs of the day before the start. */
    readonly logs: number;
    /** `test` when absent. */
    readonly tenantType?: TenantType;
    /** The number of the tenant; 1 when absent. */
    readonly tenant?: number | undefined;
    readonly tenantId: string;
    /** UUIDs when absent. */
    readonly jobIds?: JobIds | undefined;
  };
  /** The sandbox's clock was moved, to `offset` ahead of the real clock. */
  clock: { readonly offset: number };
  job: CreationEvent;
  upload: {
    readonly job: string;
    readonly bytes: number;
    readonly md5: string;
    /** Time from the upload until processing begins. */
    readonly pickup: number;
    /** Time from the upload until the result is ready. */
    readonly processing: number;
    /** The merchant ids of the tenant. */
    readonly merchants?: readonly string[] | undefined;
    /** Whether the vault accepts any token in the form of a UUID. */
    readonly acceptTokens?: boolean | undefined;
  };
  /** A request file was processed. */
  result: {
    readonly job: string;
    /** The number of the upload within the job, counted from 1. */
    readonly upload: number;
    readonly rows: number;
    /** Size and MD5 (hex) of the result file. */
    readonly bytes: number;
    readonly md5: string;
    /** Errors that prevented processing; empty on success. */
    readonly errors: readonly string[];
    /** New card tokens in the result. */
    readonly newTokens?: number;
    /** The first thousand distinct tokens of the file that the vault knows. */
    readonly used?: readonly string[];
  };
  /** The tenant got a name and settings. */
  tenant: {
    readonly application: number;
    readonly name: string;
    readonly settings: Readonly<Record<string, string>> | null;
  };
  'tenant-deleted': { readonly application: number };
  /** A webhook address was first registered. */
  webhook: { readonly url: string };
  /** An attempt to deliver an event to an address. */
  delivery: {
    readonly url: string;
    readonly event: string;
    /** 0 without a response. */
    readonly status: number;
  };
  /** A request that creates an audit record. */
  audit: {
    /** Number of the calling application; absent for the store, which needs no key. */
    readonly application?: number;
    readonly entityType: string;
    readonly entityId: string;
    readonly operation: string;
    readonly message: string;
  };
  /** A card token was created. The event contains positions among the test cards instead of the card number. */
  token: CreationEvent & {
    readonly firstSix: string;
    readonly lastFour: string;
    /** Digits of the number. */
    readonly length: number;
    /** 2 digits. */
    readonly month?: string;
    /** 4 digits. */
    readonly year?: string;
    /** Position in the test cards of the Account Updater. */
    readonly updaterCard?: number;
    /** Position in the test cards of 3-D Secure. */
    readonly threeDsCard?: number;
  };
  '3ds-session': CreationEvent & {
    readonly sessionType: SessionType;
    /** The member of the request that named the token. */
    readonly named: 'token_id' | 'token_intent_id' | 'pan';
    readonly token: string;
    readonly network: string;
    readonly lastFour: string;
    readonly scenario: ScenarioName;
    readonly posted?: PostedDevice;
  };
  /** The method page of a session was visited, or its completion was notified. */
  '3ds-method': {
    readonly session: string;
    /** Facts that a browser sends with every request; absent for the notification. */
    readonly browser?: { readonly accept: string; readonly address: string; readonly userAgent: string };
  };
  /** A session was authenticated, or its challenge begun. */
  '3ds-authentication': {
    readonly session: string;
    readonly application: number;
    readonly authenticationType: AuthenticationType;
    readonly preference?: keyof typeof CHALLENGE_PREFERENCE_CODES;
    /** Whether the issuer may challenge the cardholder outside the session. */
    readonly decoupled: boolean;
    /** Time limit of such a challenge, in milliseconds. */
    readonly decoupledLimit?: number;
    readonly posted?: PostedDevice;
    /** The message extensions of the request. */
    readonly extensions?: readonly MessageExtension[];
    /** The outcome that was set for this authentication; absent if the card decides. */
    readonly forced?: ForcedOutcome;
    /** Details for the challenge page; the amount includes its currency and is absent when nothing is paid. */
    readonly shown: { readonly merchant: string; readonly amount?: string };
    /** Set if the exponent differs from the currency's exponent in ISO 4217, which the service is not documented to refuse. */
    readonly otherExponent?: true;
  };
  /** Outcomes of later authentications were set, in the order in which they are tried. */
  outcomes: { readonly texts: readonly string[] };
  'outcomes-cleared': object;
  /** The action of a cardholder on a challenge page. */
  '3ds-challenge': {
    readonly session: string;
    readonly answer: 'right-code' | 'wrong-code' | 'approve' | 'decline' | 'cancel';
  };
}

/** The set outcome of an authentication. Absent members follow from the card. */
export interface ForcedOutcome {
  /** The final status: after a challenge, the status if the cardholder completes the challenge. */
  readonly status?: FinalStatus;
  readonly reason?: StatusReason;
  /** The challenge that precedes the final status. */
  readonly challenge?: ChallengeType;
  /** The reason for giving up the challenge. */
  readonly cancel?: CancelReason;
  readonly whitelist?: WhitelistStatus;
  readonly source?: WhitelistSource;
  readonly mandated?: 'Y' | 'N';
  readonly eci?: string;
}

export type FinalStatus = Exclude<AuthenticationStatus, 'challenge' | 'decoupled_challenge'>;

/** A message extension of an authenticate request. */
export type MessageExtension = NonNullable<AuthenticateRequest['message_extensions']>[number];

export interface CreationEvent {
  /** A random value by which the process that wrote the event finds the created entity. */
  readonly nonce: string;
  /** Number of the creating application. */
  readonly application: number;
}

/** Details of the cardholder's device in a request. */
export interface PostedDevice {
  readonly device?: string;
  readonly device_info?: Readonly<Record<string, unknown>>;
}

export type JournalEvent = {
  /** `at` is in milliseconds of the sandbox's clock. */
  [Type in keyof Events]: Events[Type] & { readonly type: Type; readonly at: number };
}[keyof Events];

/** A line of the journal of one type, or of one of several. */
export type EventOf<Type extends keyof Events> = Extract<JournalEvent, { readonly type: Type }>;

/** Reads a line; undefined for an incomplete or empty line. */
export function readEvent(line: string): JournalEvent | undefined {
  const value = parsedJson(line);
  return isEvent(value) ? value : undefined;
}

// Accepts unknown types, which a later version may add: applying them does nothing.
function isEvent(value: unknown): value is JournalEvent {
  return isObject(value) && 'type' in value && typeof value['at'] === 'number';
}
