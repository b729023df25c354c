import type { Env } from 'hono';
import type { Processing } from './account-updater/processing.ts';
import type { Permission, SandboxKey } from './keys.ts';
import type { RateLimits } from './limits.ts';
import type { SandboxOptions } from './options.ts';
import type { EventOf } from './state/events.ts';
import type { SandboxState } from './state/state.ts';
import type { SetOutcome } from './state/world.ts';
import type { StoreFiles } from './store/files.ts';

/** The running sandbox of one tenant, for its routes. */
export interface Service {
  /** The number of the tenant, counted from 1. */
  readonly tenant: number;
  /** The options with which this process was started. */
  readonly options: SandboxOptions;
  readonly state: SandboxState;
  readonly files: StoreFiles;
  readonly processing: Processing;
  readonly limits: RateLimits | undefined;
  /** The outcomes of authentications that this process was started with. */
  readonly outcomes: readonly SetOutcome[];
  /** Returns scheme, host and port of this process's server. */
  origin(): string;
}

/** Facts about a connection, for the app. */
export interface SandboxEnv extends Env {
  readonly Bindings: { readonly remoteAddress?: string | undefined };
}

/** A record in the tenant's logs. */
export type AuditNote = Omit<EventOf<'audit'>, 'type' | 'at' | 'application'>;

/** Adds a record to the tenant's logs. `key` is undefined for a request to the store, which needs no key. */
export function recordAudit({ state }: Service, key: SandboxKey | undefined, note: AuditNote): void {
  state.record({ type: 'audit', at: state.now(), ...(key && { application: key.application }), ...note });
}

/** Returns the record of a request to an endpoint. Without an `id`, the record is about the tenant. */
export function auditNote({ state }: Service, subject: AuditSubject, refused: boolean, id?: string): AuditNote {
  const { entityType, noun, operation } = subject;
  return {
    entityType,
    entityId: id?.slice(0, MAX_ID_LENGTH) ?? state.world.tenantId,
    operation,
    message: `${noun} ${refused ? `${operation} refused` : PAST[operation]}`,
  };
}

const PAST = { create: 'created', read: 'read', update: 'updated', delete: 'deleted' } as const;

// Ids come from the path of a request, which may contain any text, so they are cut.
const MAX_ID_LENGTH = 100;

/** How the tenant's logs describe requests to an endpoint. */
export interface AuditSubject {
  readonly entityType: string;
  /** The noun at the beginning of a message: `Job`, `Usage report`. */
  readonly noun: string;
  readonly operation: keyof typeof PAST;
}

/** A request, for the handler of its endpoint. */
export interface Call {
  readonly service: Service;
  /** Parts of the path by name, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly key: SandboxKey;
  /** The sandbox's time at arrival, in milliseconds. */
  readonly now: number;
  /** Reads the JSON body; undefined without a body. Throws a 400 for a body that is not JSON. */
  readonly json: () => Promise<unknown>;
  /** Names the entity that the request created, for its record in the tenant's logs. */
  readonly created: (id: string) => void;
}

/** An endpoint of the API. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path; variable segments are written `:name`. */
  readonly path: string;
  /** The required permission, which also determines the type of key. */
  readonly permission: Permission;
  readonly audit: AuditSubject;
  /** The status of success; 200 by default. */
  readonly status?: number;
  /** Returns the body of the response, or throws a `problem`. */
  handle(call: Call): unknown;
}
