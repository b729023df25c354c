import { isObject, parsedJson } from '../../schema/json-value.ts';
import type { TenantType } from '../../schema/tenant.ts';
import type { AuthenticationType, CHALLENGE_PREFERENCE_CODES, SessionType } from '../../schema/three-ds/values.ts';
import type { ScenarioName } from '../vault/test-cards.ts';

/** What the journal holds, one event a line, by type. State is a function of these events and the time. */
interface Events {
  /** The first line: what the sandbox's data is generated from. */
  start: {
    readonly seed: number;
    /** Hex; signs the store's addresses. */
    readonly secret: string;
    /** Generated logs of the day before the start. */
    readonly logs: number;
    /** `test` when absent. */
    readonly tenantType?: TenantType;
  };
  /** From here on the sandbox's clock runs this far ahead of the real one. */
  clock: { readonly offset: number };
  job: CreationEvent;
  upload: {
    readonly job: string;
    readonly bytes: number;
    readonly md5: string;
    /** How long after the upload processing begins. */
    readonly pickup: number;
    /** How long after the upload the result is ready. */
    readonly processing: number;
  };
  /** A request file was processed. */
  result: {
    readonly job: string;
    /** Which of the job's uploads, counted from 1. */
    readonly upload: number;
    readonly rows: number;
    /** Size and MD5 (hex) of the result file. */
    readonly bytes: number;
    readonly md5: string;
    /** Why the file could not be processed; empty when it could. */
    readonly errors: readonly string[];
    /** New card tokens in the result. */
    readonly newTokens?: number;
    /** The first thousand distinct card tokens of the file that the vault holds. */
    readonly used?: readonly string[];
  };
  /** The tenant was given a name and settings. */
  tenant: { readonly application: number; readonly name: string; readonly settings: Readonly<Record<string, string>> };
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
  /** A request that leaves an audit record. */
  audit: {
    /** Number of the calling application; absent for the store, which knows no caller. */
    readonly application?: number;
    readonly entityType: string;
    readonly entityId: string;
    readonly operation: string;
    readonly message: string;
  };
  /** A card token was created. It holds no card number: the positions in the test cards are enough. */
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
    /** What a browser says of itself with every request; absent for the notification. */
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
    /** How long such a challenge may take, in milliseconds. */
    readonly decoupledLimit?: number;
    readonly posted?: PostedDevice;
    /** What the challenge page shows of the request: the amount with its currency where something is paid. */
    readonly shown: { readonly merchant: string; readonly amount?: string };
  };
  /** What a cardholder did on a challenge page. */
  '3ds-challenge': {
    readonly session: string;
    readonly answer: 'right-code' | 'wrong-code' | 'approve' | 'decline' | 'cancel';
  };
}

export interface CreationEvent {
  /** Identifies what was created to the process that wrote the line. */
  readonly nonce: string;
  /** Number of the application that created it. */
  readonly application: number;
}

/** What a request said of the cardholder's device. */
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

/** Reads one line; undefined for an incomplete or empty one. */
export function readEvent(line: string): JournalEvent | undefined {
  const value = parsedJson(line);
  return isEvent(value) ? value : undefined;
}

// Events of types that a later version adds are ignored where they are applied.
function isEvent(value: unknown): value is JournalEvent {
  return isObject(value) && 'type' in value && typeof value['at'] === 'number';
}
