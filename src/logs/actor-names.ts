import { isSvcError, SvcError } from '../base/errors.ts';
import { within } from '../base/within.ts';
import type { Context } from '../cli/app/command.ts';
import {
  type ApplicationNames,
  knownApplications,
  type NamesRead,
  rememberActors,
  rememberApplications,
} from '../cli/config/cache.ts';
import { cleanText, loadUnicodeWidth } from '../cli/output/text.ts';
import type { View } from '../cli/output/view.ts';
import type { Client } from '../client/api/client.ts';
import { isObject, objectOrUndefined } from '../schema/json-value.ts';
import type { Log } from '../schema/log.ts';
import { type Actor, type ActorLabels, actorText, labelsOf } from './actor.ts';
import { peopleView } from './view.ts';

/** How long the first entries wait for names. */
const FIRST_MS = 300;
/** How long a finished command waits for names, which only the next command can show. */
const PATIENCE_MS = 2_000;
const MAX_WIDTH = 23;
const MAX_SEEN = 100;
const PAGE_SIZE = 100;
const MAX_PAGES = 100;

type TenantActor = Actor & Pick<Log, 'tenant_id'>;

/**
 * Shows actors to people. The names of applications come from the cache; a command that reads entries of the service
 * requests them after its first page, at most once a day.
 */
export class ActorNames {
  readonly view: View<Log>;
  /** The service whose tenants the entries belong to: its base URL. Undefined for an archive that was not opened yet. */
  service: string | undefined;
  /** Whether names come from the cache only, because the command reads no service. */
  isOffline = false;
  readonly #context: Context;
  readonly #labels = new Map<string, { readonly labels: ActorLabels; readonly isFresh: boolean }>();
  readonly #seen = new Map<string, Map<string, string>>();
  #reading: Promise<void> | undefined;

  constructor(context: Context, service: string | undefined) {
    this.#context = context;
    this.service = service;
    const { out, globals, plain } = context;
    const width = globals.wide || plain || !out.isTerminal ? Infinity : out.width;
    this.view = peopleView((log) => this.textOf(log), width);
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
    try {
      for await (const batch of batches) {
        await this.learn(batch);
        yield batch;
      }
      const { clock, signal } = this.#context;
      if (this.#reading) await within(this.#reading, PATIENCE_MS, { clock, signal });
    } finally {
      this.remember();
    }
  }

  /** Requests the names for actors, if they are not known yet, and waits a moment for them. */
  async learn(actors: readonly TenantActor[]): Promise<void> {
    for (const actor of actors) this.#see(actor);
    if (this.isOffline || this.#reading !== undefined) return;
    const tenantId = actors.find((actor) => this.#isUnnamed(actor))?.tenant_id;
    if (typeof tenantId !== 'string') return;
    this.#reading = this.#read(tenantId);
    // A command that ends earlier does not wait for the names.
    this.#reading.catch(() => undefined);
    const { clock, signal } = this.#context;
    await within(this.#reading, FIRST_MS, { clock, signal });
  }

  /** Keeps the actors that were shown for completion. */
  remember(): void {
    const { service } = this;
    if (service === undefined) return;
    for (const [tenantId, actors] of this.#seen) rememberActors(this.#context.system, { service, tenantId }, actors);
    this.#seen.clear();
  }

  #see({ tenant_id: tenant, actor_id: id, actor_type: type }: TenantActor): void {
    if (!tenant || !id) return;
    const seen = this.#seen.get(tenant) ?? new Map<string, string>();
    this.#seen.set(tenant, seen);
    if (seen.size < MAX_SEEN) seen.set(id, type ?? '');
  }

  #isUnnamed({ tenant_id: tenant, actor_id: id, actor_type: type }: TenantActor): boolean {
    return Boolean(tenant && id) && type !== 'user' && !this.#known(tenant ?? '').isFresh;
  }

  #known(tenantId: string): { readonly labels: ActorLabels; readonly isFresh: boolean } {
    const { service } = this;
    if (service === undefined) return { labels: new Map(), isFresh: false };
    const { system, clock } = this.#context;
    let known = this.#labels.get(tenantId);
    if (known === undefined) {
      const { names, isFresh } = knownApplications(system, { service, tenantId }, clock.now());
      known = { labels: labelsOf(names), isFresh };
      this.#labels.set(tenantId, known);
    }
    return known;
  }

  /** Reads the names. A refusal is remembered too, because it will stay; another failure is not. */
  async #read(tenantId: string): Promise<void> {
    const { service } = this;
    if (service === undefined) return;
    const { system, clock } = this.#context;
    const client = await this.#context.client();
    const names = await client.bestEffort(({ any }) => applicationNames(this.#context, any, 1));
    if (!(names instanceof SvcError)) {
      this.#labels.set(tenantId, { labels: labelsOf(names.shown), isFresh: true });
      rememberApplications(system, { service, tenantId }, names, clock.now());
    } else if (isSvcError(names, 'forbidden', 'not_found')) {
      rememberApplications(system, { service, tenantId }, undefined, clock.now());
    }
  }
}

/** Reads the whole names of all applications. @throws SvcError if they cannot be read */
export async function readApplications(context: Context): Promise<ApplicationNames> {
  const client = await context.client();
  const { shown, whole, hasMore } = await applicationNames(context, client.any, MAX_PAGES);
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
