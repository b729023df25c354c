// Names the actors of log entries.

import { isSvcError, SvcError } from '../base/errors.ts';
import { within } from '../base/within.ts';
import type { Context } from '../cli/app/command.ts';
import { type ApplicationNames, knownApplications, type NamesRead, rememberApplications } from '../cli/config/cache.ts';
import { cleanText } from '../cli/output/text.ts';
import { loadUnicodeWidth } from '../cli/output/text-width.ts';
import type { Client } from '../client/api/client.ts';
import { isObject, objectOrUndefined } from '../schema/json-value.ts';
import type { Log } from '../schema/log.ts';
import { UUID } from '../schema/uuid.ts';

type Maybe = string | null | undefined;

/** What an entry, or a count of entries, says about who acted. */
export interface Actor {
  readonly actor_id?: Maybe;
  readonly actor_type?: Maybe;
}

/** Names of actors as people read them, by id. */
export type ActorLabels = ReadonlyMap<string, string>;

const NO_LABELS: ActorLabels = new Map();
const ID_LENGTH = 8;
/** A longer type is cut in a narrow table, so that the id beside it is not. */
const MAX_TYPE = 16;

/**
 * Returns an actor as every view shows it: its name if it is known, else its type and the beginning of its id, such as
 * `user a20690bc`. Returns an empty text if the entry names no actor.
 */
export function actorText({ actor_id: id, actor_type: type }: Actor, labels = NO_LABELS): string {
  const label = id ? labels.get(id) : undefined;
  if (label !== undefined) return label;
  if (id) return type ? `${type} ${shortId(id)}` : shortId(id);
  return type ? `${type} without an id` : '';
}

/** Returns an actor with its whole id, for `--wide` and for pages: its name or its type, and the id. */
export function wholeActorText(actor: Actor, labels = NO_LABELS): string {
  const { actor_id: id, actor_type: type } = actor;
  if (!id) return actorText(actor, labels);
  return [labels.get(id) ?? type, id].filter(Boolean).join(' ');
}

/** Returns an entity in the same form: its type, cut if it is long, and the beginning of its id. */
export function entityText({ entity_id: id, entity_type: type }: Pick<Log, 'entity_id' | 'entity_type'>): string {
  const short = type && type.length > MAX_TYPE ? `${type.slice(0, MAX_TYPE - 1)}…` : type;
  return [short, id ? shortId(id) : undefined].filter(Boolean).join(' ');
}

/** Returns the first eight characters of a UUID, and another id whole. */
export function shortId(id: string): string {
  return UUID.test(id) ? id.slice(0, ID_LENGTH) : id;
}

/**
 * Returns the labels for names. A name that two applications share, or that looks like a type with an id, is followed by
 * the beginning of its id, so that no application passes for another actor.
 */
export function labelsOf(names: Iterable<readonly [id: string, name: string]>): ActorLabels {
  const all = [...names];
  const uses = new Map<string, number>();
  for (const [, name] of all) uses.set(name, (uses.get(name) ?? 0) + 1);
  const isUnclear = (name: string): boolean => (uses.get(name) ?? 0) > 1 || /[0-9a-f]{8}$/i.test(name);
  return new Map(all.map(([id, name]) => [id, isUnclear(name) ? `${name} (${shortId(id)})` : name]));
}

/** How long the first entries wait for names. */
const FIRST_MS = 300;
/** How long a finished command waits for names, which only the next command can show. */
const PATIENCE_MS = 2_000;
const MAX_WIDTH = 23;
const PAGE_SIZE = 100;
const MAX_PAGES = 100;

type TenantActor = Actor & Pick<Log, 'tenant_id'>;

/**
 * Shows actors to people. The names of applications come from the cache; a command that reads entries of the service
 * requests them after its first page, at most once a day.
 */
export class ActorNames {
  /** The service whose tenants the entries belong to: its base URL. Undefined for an archive that was not opened yet. */
  service: string | undefined;
  /** Whether names come from the cache only, because the command reads no service. */
  isOffline = false;
  readonly #context: Context;
  readonly #labels = new Map<string, { readonly labels: ActorLabels; readonly isFresh: boolean }>();
  #reading: Promise<void> | undefined;

  constructor(context: Context, service: string | undefined) {
    this.#context = context;
    this.service = service;
  }

  /** Returns an actor for people. */
  textOf(actor: TenantActor): string {
    return actorText(actor, this.labelsOf(actor.tenant_id));
  }

  /** Returns the labels of a tenant's actors. */
  labelsOf(tenantId: string | null | undefined): ActorLabels {
    return tenantId ? this.#known(tenantId).labels : new Map();
  }

  /** Passes entries on, and requests names that they need. The first entries wait a moment for them. */
  async *learned(batches: AsyncIterable<readonly Log[]>): AsyncGenerator<readonly Log[]> {
    for await (const batch of batches) {
      await this.learn(batch);
      yield batch;
    }
    const { clock, signal } = this.#context;
    if (this.#reading) await within(this.#reading, PATIENCE_MS, { clock, signal });
  }

  /** Requests the names for actors, if they are not known yet, and waits a moment for them. */
  async learn(actors: readonly TenantActor[]): Promise<void> {
    if (this.isOffline || this.#reading !== undefined) return;
    const tenantId = actors.find((actor) => this.#isUnnamed(actor))?.tenant_id;
    if (typeof tenantId !== 'string') return;
    this.#reading = this.#read(tenantId);
    // A command that ends earlier does not wait for the names.
    this.#reading.catch(() => undefined);
    const { clock, signal } = this.#context;
    await within(this.#reading, FIRST_MS, { clock, signal });
  }

  #isUnnamed({ tenant_id: tenant, actor_id: id, actor_type: type }: TenantActor): boolean {
    return Boolean(tenant && id) && type !== 'user' && !this.#known(tenant ?? '').isFresh;
  }

  #known(tenantId: string): { readonly labels: ActorLabels; readonly isFresh: boolean } {
    const { service } = this;
    if (service === undefined) return { labels: new Map(), isFresh: false };
    const { system, clock } = this.#context;
    let labels = this.#labels.get(tenantId);
    if (labels === undefined) {
      const { names, isFresh } = knownApplications(system, { service, tenantId }, clock.now());
      labels = { labels: labelsOf(names), isFresh };
      this.#labels.set(tenantId, labels);
    }
    return labels;
  }

  /** Reads the names. A refusal is remembered too, because it will stay; another failure is not. */
  async #read(tenantId: string): Promise<void> {
    const { service } = this;
    if (service === undefined) return;
    const { clock } = this.#context;
    const client = await this.#context.client();
    const names = await client.bestEffort(({ any }) => applicationNames(this.#context, any, 1));
    if (!(names instanceof SvcError)) {
      this.#labels.set(tenantId, { labels: labelsOf(names.shown), isFresh: true });
      rememberApplications(this.#context, { service, tenantId }, names, clock.now());
    } else if (isSvcError(names, 'forbidden', 'not_found')) {
      rememberApplications(this.#context, { service, tenantId }, undefined, clock.now());
    }
  }
}

/** Reads the whole names of all applications. @throws SvcError if they cannot be read, or not at once if they are optional */
export async function readApplications(context: Context, isOptional: boolean): Promise<ApplicationNames> {
  const client = await context.client();
  const read = ({ any }: Pick<Client, 'any'>): Promise<NamesRead> => applicationNames(context, any, MAX_PAGES);
  const names = isOptional ? await client.bestEffort(read) : await read(client);
  if (names instanceof SvcError) throw names;
  const { shown, whole, hasMore } = names;
  if (hasMore) throw new SvcError('truncated', 'the list of applications is too long to find a name in it');
  return new Map([...shown, ...whole]);
}

async function applicationNames(context: Context, any: Client['any'], pages: number): Promise<NamesRead> {
  const names = new Map<string, string>();
  let hasMore = true;
  for (let page = 1; hasMore && page <= pages; page += 1) {
    const query = { size: PAGE_SIZE, ...(page > 1 && { page }) };
    const { body } = await any.send({ method: 'GET', path: '/applications', query, key: 'management', attempts: 1 });
    const { data, pagination } = objectOrUndefined(body?.json) ?? {};
    if (!Array.isArray(data)) throw new SvcError('bad_response', 'the list of applications has no data');
    const before = names.size;
    for (const [id, name] of data.flatMap((item: unknown) => pairOf(context, item))) names.set(id, name);
    const { total_pages: total } = objectOrUndefined(pagination) ?? {};
    // Without a total, a full page may have a successor, unless the service sends the same page again.
    hasMore = typeof total === 'number' ? page < total : data.length >= PAGE_SIZE && names.size > before;
  }
  const ruler = await loadUnicodeWidth();
  const shown = new Map([...names].map(([id, name]) => [id, ruler.cut(name, MAX_WIDTH)]));
  return { shown, whole: new Map([...names].filter(([id, name]) => shown.get(id) !== name)), hasMore };
}

function pairOf(context: Context, item: unknown): [id: string, name: string][] {
  if (!isObject(item) || typeof item['id'] !== 'string' || typeof item['name'] !== 'string') return [];
  const name = context.out.redact(cleanText(item['name'])).trim();
  return name === '' ? [] : [[item['id'], name]];
}

/** Returns the names of actors that earlier commands read from the service of an archive, without a request. */
export async function knownLabels(
  { system, clock }: Pick<Context, 'system' | 'clock'>,
  { service, tenant_id: tenantId }: { readonly service: string; readonly tenant_id: string },
): Promise<ActorLabels> {
  return labelsOf(knownApplications(system, { service, tenantId }, clock.now()).names);
}
