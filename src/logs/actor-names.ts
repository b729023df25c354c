import { isSvcError, SvcError } from '../base/errors.ts';
import { nearest, typedWord } from '../base/security/typed-word.ts';
import { within } from '../base/within.ts';
import type { Context } from '../cli/app/command.ts';
import { serviceOf } from '../cli/app/service.ts';
import {
  type ApplicationNames,
  knownApplications,
  knownApplicationsOf,
  type NamesRead,
  rememberActors,
  rememberApplications,
} from '../cli/config/cache.ts';
import { cleanText, loadUnicodeWidth } from '../cli/output/text.ts';
import type { View } from '../cli/output/view.ts';
import type { Client } from '../client/api/client.ts';
import { isObject, objectOrUndefined } from '../schema/json-value.ts';
import type { Log } from '../schema/log.ts';
import { UUID } from '../schema/uuid.ts';
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

/** A UUID that completes the beginning of another one, to check whether it can be one. */
const EXAMPLE = '00000000-0000-0000-0000-000000000000';
/** The short id at the end of an actor as a table shows it: `user a20690bc`, or `Twin (4707c78a)`. */
const SHOWN_ID = /[ (]([0-9a-f]{8})\)?$/i;
const FEWEST_CHARACTERS = 6;
const MOST_SHOWN = 10;
/** The most actors that are kept to name those with an id that is near to the typed one. */
const MOST_KEPT = 1_000;
const MOST_NEAR = 5;
const MOST_EDITS = 2;

/** Selects the entries of one actor, given by its id or the beginning of its id. */
export class ActorFilter {
  /** The complete id in lower case; undefined if only its beginning is known. */
  readonly id: string | undefined;
  readonly #beginning: string;
  #met: string | undefined;
  #isSeen = false;
  readonly #others = new Set<string>();

  constructor(idOrBeginning: string) {
    this.#beginning = idOrBeginning.toLowerCase();
    this.id = UUID.test(idOrBeginning) ? this.#beginning : undefined;
  }

  /** Notes the actor of an entry that was read, whether or not other filters hide the entry. */
  see(actorId: unknown): void {
    if (this.id !== undefined || this.#isSeen || typeof actorId !== 'string') return;
    const id = actorId.toLowerCase();
    this.#isSeen = id.startsWith(this.#beginning);
    if (this.#others.size < MOST_KEPT) this.#others.add(id);
  }

  /** Reports near ids if no entry read has an actor with the beginning. @throws SvcError `usage` */
  report(): void {
    if (this.id !== undefined || this.#isSeen) return;
    const { length } = this.#beginning;
    const isNear = (id: string): boolean => nearest(this.#beginning, [id.slice(0, length)], MOST_EDITS) !== undefined;
    const near = [...this.#others].filter(isNear).slice(0, MOST_NEAR);
    const found = near.length === 0 ? '' : ` Actors with a similar id: ${near.join(', ')}.`;
    throw new SvcError('usage', `no entry read is by an actor whose id begins with ${this.#beginning}`, {
      hint: `The beginning of an id stands for an actor of the entries read: widen the time range, or give the whole id.${found}`,
      facts: { near },
    });
  }

  /** Whether an id belongs to the actor. @throws SvcError `usage` if the ids of two actors have the same beginning */
  matches(actorId: unknown): boolean {
    if (typeof actorId !== 'string') return false;
    const id = actorId.toLowerCase();
    if (this.id !== undefined) return id === this.id;
    if (!id.startsWith(this.#beginning)) return false;
    this.#met ??= id;
    if (this.#met !== id) throw ambiguous(this.#beginning, [this.#met, id]);
    return true;
  }
}

/**
 * Resolves the actors in `--actor`: ids, beginnings of ids, or names of applications. A beginning that matches no known
 * application is searched in the entries, which are read anyway.
 * @throws SvcError `usage` if a name or a beginning matches no actor, or more than one
 */
export async function actorFilters(context: Context, typed: readonly string[]): Promise<readonly ActorFilter[]> {
  const actors: ActorFilter[] = [];
  for (const name of typed) actors.push(new ActorFilter(UUID.test(name) ? name : await idOf(context, name)));
  return actors;
}

async function idOf(context: Context, typed: string): Promise<string> {
  const { settings, system, clock } = context;
  // Reading an archive needs no service.
  const service = settings.sandbox || settings.baseUrl !== undefined ? serviceOf(context) : undefined;
  const cached = knownApplicationsOf(system, service, clock.now()).names;
  const isBeginning = isBeginningOfId(typed);
  const found = candidates(cached, typed);
  if (found.length === 0 && isBeginning) return typed;
  if (found.length > 0) return onlyOne(typed, found);
  const [, shownId] = SHOWN_ID.exec(typed) ?? [];
  if (shownId !== undefined) return idOf(context, shownId);
  const { names, problem, hasMore } = await readNames(context, service);
  const named = candidates(names, typed);
  if (named.length === 0) throw unknownActor(typed, names, problem);
  const id = onlyOne(typed, named);
  if (hasMore)
    context.notices.warn(
      `--actor ${typedWord(typed, names.values())} is application ${id}; others of this name may not be known (${problem})`,
    );
  return id;
}

function isBeginningOfId(typed: string): boolean {
  return typed.length >= FEWEST_CHARACTERS && UUID.test(typed + EXAMPLE.slice(typed.length));
}

/**
 * Returns the ids of applications with this name or, if it may be one, this beginning of an id. A name that a table cut,
 * which ends with an ellipsis, is the beginning of a whole name.
 */
function candidates(names: ApplicationNames, typed: string): string[] {
  const isBeginning = isBeginningOfId(typed);
  const name = cleanText(typed).trim().toLowerCase();
  const idsOf = (isMeant: (known: string, id: string) => boolean): string[] =>
    [...names].filter(([id, known]) => isMeant(known.toLowerCase(), id.toLowerCase())).map(([id]) => id);
  const found = idsOf((known, id) => known === name || (isBeginning && id.startsWith(name)));
  const [, start] = /^(.+)…$/s.exec(name) ?? [];
  return found.length > 0 || start === undefined ? found : idsOf((known) => known.startsWith(start));
}

function onlyOne(typed: string, found: readonly string[]): string {
  const [first = typed] = found;
  if (found.length > 1) throw ambiguous(typed, found);
  return first;
}

/** Reads the names of applications. Without the service, names that were read long ago, and perhaps not all, must do. */
async function readNames(
  context: Context,
  service: string | undefined,
): Promise<{ names: ApplicationNames; hasMore: boolean; problem?: string }> {
  try {
    return { names: await readApplications(context), hasMore: false };
  } catch (error) {
    if (!isSvcError(error)) throw error;
    context.signal.throwIfAborted();
    const { system, clock } = context;
    return { ...knownApplicationsOf(system, service, clock.now(), { isOld: true }), problem: error.message };
  }
}

function ambiguous(typed: string, ids: readonly string[]): SvcError {
  return new SvcError(
    'usage',
    `--actor ${typedWord(typed, [])} is not one actor: ${ids.slice(0, MOST_SHOWN).join(', ')}`,
    { hint: 'Give the whole id.', facts: { candidates: ids } },
  );
}

function unknownActor(typed: string, names: ApplicationNames, problem: string | undefined): SvcError {
  const known = [...names].slice(0, MOST_SHOWN).map(([id, name]) => `${name} (${id})`);
  const reason = problem === undefined ? '' : `: the names of applications could not be read (${problem})`;
  const applications = known.length === 0 ? '' : ` Known: ${known.join(', ')}.`;
  return new SvcError('usage', `--actor ${typedWord(typed, [...names.values()])} is no known actor${reason}`, {
    hint: `Give an id, at least ${FEWEST_CHARACTERS} characters of one, or the name of an application.${applications}`,
    facts: { candidates: [...names.keys()].slice(0, MOST_SHOWN) },
  });
}

/** Returns the names of actors that earlier commands read from the service of an archive, without a request. */
export async function knownLabels(
  { system, clock }: Pick<Context, 'system' | 'clock'>,
  { service, tenant_id: tenantId }: { readonly service: string; readonly tenant_id: string },
): Promise<ActorLabels> {
  const [{ knownApplications }, { labelsOf }] = await Promise.all([
    import('../cli/config/cache.ts'),
    import('./actor.ts'),
  ]);
  return labelsOf(knownApplications(system, { service, tenantId }, clock.now()).names);
}
