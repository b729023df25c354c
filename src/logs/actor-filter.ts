// The actors that `--actor` names: their ids, beginnings of ids, or names of applications.

import { isSvcError, SvcError } from '../base/errors.ts';
import { nearest, typedWord } from '../base/security/typed-word.ts';
import type { Context } from '../cli/app/command.ts';
import { serviceOf } from '../cli/app/service.ts';
import { type ApplicationNames, knownApplicationsOf } from '../cli/config/cache.ts';
import { cleanText } from '../cli/output/text.ts';
import { UUID } from '../schema/uuid.ts';
import { readApplications } from './actor.ts';

/** A UUID that completes the beginning of another one, to check whether it can be one. */
const EXAMPLE = '00000000-0000-0000-0000-000000000000';
/** The short id at the end of an actor as a table shows it: `user a20690bc`, or `Twin (4707c78a)`. */
const SHOWN_ID = /[ (]([0-9a-f]{8})\)?$/i;
const FEWEST_CHARACTERS = 6;
const MOST_SHOWN = 10;
/** How many letters of an id may differ from a near one. */
const MOST_EDITS = 2;
/** The most ids of actors that are kept to find near ones. */
const MOST_KEPT = 1_000;
/** How many near ids are reported. */
const MOST_NEAR = 5;

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
    const similarActors = near.length === 0 ? '' : ` Actors with a similar id: ${near.join(', ')}.`;
    throw new SvcError('usage', `no entry read is by an actor whose id begins with ${this.#beginning}`, {
      hint: `The beginning of an id stands for an actor of the entries read: widen the time range, or give the whole id.${similarActors}`,
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
    return { ...knownApplicationsOf(system, service, clock.now(), { allowOld: true }), problem: error.message };
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
  const knownActors = [...names].slice(0, MOST_SHOWN).map(([id, name]) => `${name} (${id})`);
  const reason = problem === undefined ? '' : `: the names of applications could not be read (${problem})`;
  const applications = knownActors.length === 0 ? '' : ` Known: ${knownActors.join(', ')}.`;
  return new SvcError('usage', `--actor ${typedWord(typed, [...names.values()])} is no known actor${reason}`, {
    hint: `Give an id, at least ${FEWEST_CHARACTERS} characters of one, or the name of an application.${applications}`,
    facts: { candidates: [...names.keys()].slice(0, MOST_SHOWN) },
  });
}
