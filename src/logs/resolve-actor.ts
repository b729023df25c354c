// Finds the actors that `--actor` names: by id, by the beginning of an id, or by the name of an application.

import { SvcError, isSvcError } from '../base/errors.ts';
import { typedWord } from '../base/security/typed-word.ts';
import type { Context } from '../cli/app/command.ts';
import { serviceOf } from '../cli/app/service.ts';
import { type ApplicationNames, knownApplicationsOf } from '../cli/config/cache.ts';
import { cleanText } from '../cli/output/text.ts';
import { ActorFilter, ambiguous } from './actor-filter.ts';
import { readApplications } from './actor.ts';
import { UUID } from '../schema/uuid.ts';

/** Completes the beginning of a UUID, to check whether the beginning is valid. */
const UUID_FILLER = '00000000-0000-0000-0000-000000000000';
/** The short id at the end of an actor as a table shows it: `user a20690bc`, or `Twin (4707c78a)`. */
const SHOWN_ID = /[ (]([0-9a-f]{8})\)?$/i;
const LETTERS = /^[a-f]+$/i;
/** The least length of a beginning of an id. */
const MIN_CHARACTERS = 6;
/** How many known applications are reported. */
const MAX_SHOWN = 10;

/**
 * Resolves the actors in `--actor`: ids, beginnings of ids, or names of applications. A beginning that matches no
 * application is searched in the entries, which are read anyway.
 * @throws SvcError `usage` if a name or a beginning matches no actor, or more than one
 */
export async function actorFilters(context: Context, typed: readonly string[]): Promise<readonly ActorFilter[]> {
  const actors: ActorFilter[] = [];
  for (const name of typed) actors.push(new ActorFilter(UUID.test(name) ? name : await resolveActor(context, name)));
  return actors;
}

/**
 * Returns the id of an actor, or `typed` if it may be the beginning of an id that only the entries complete.
 * @throws SvcError `usage` if no actor matches, or several do
 */
async function resolveActor(context: Context, typed: string): Promise<string> {
  const { settings, system, clock } = context;
  // Reading an archive needs no service.
  const service = settings.sandbox || settings.baseUrl !== undefined ? serviceOf(context) : undefined;
  const cached = knownApplicationsOf(system, service, clock.now()).names;
  const isBeginning = isBeginningOfId(typed);
  const found = candidates(cached, typed);
  if (found.length > 0) return onlyOne(typed, found);
  // A name such as `facade` may be a beginning too. Hardly any id begins with six letters.
  if (isBeginning && !LETTERS.test(typed)) return typed;
  const [, shownId] = SHOWN_ID.exec(typed) ?? [];
  if (shownId !== undefined) return resolveActor(context, shownId);
  const { names, problem, hasMore } = await readNames(context, service, isBeginning);
  const named = candidates(names, typed);
  if (named.length === 0 && isBeginning) {
    if (problem !== undefined) context.notices.warn(`--actor ${typed} is taken as the beginning of an id: ${problem}`);
    return typed;
  }
  if (named.length === 0) throw unknownActor(typed, names, problem);
  const id = onlyOne(typed, named);
  if (hasMore)
    context.notices.warn(
      `--actor ${typedWord(typed, names.values())} is application ${id}; others of this name may not be known: ${problem}`,
    );
  return id;
}

function isBeginningOfId(typed: string): boolean {
  return typed.length >= MIN_CHARACTERS && UUID.test(typed + UUID_FILLER.slice(typed.length));
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

/** Reads the names of applications, for at most two seconds if the command can do without. If that fails, returns the cached names, which may be old or incomplete, with the reason in `problem`. */
async function readNames(
  context: Context,
  service: string | undefined,
  isOptional: boolean,
): Promise<{ names: ApplicationNames; hasMore: boolean; problem?: string }> {
  try {
    return { names: await readApplications(context, isOptional), hasMore: false };
  } catch (error) {
    if (!isSvcError(error)) throw error;
    context.signal.throwIfAborted();
    const { system, clock } = context;
    const problem = `the names of applications could not be read (${error.message})`;
    return { ...knownApplicationsOf(system, service, clock.now(), { allowOld: true }), problem };
  }
}

function unknownActor(typed: string, names: ApplicationNames, problem: string | undefined): SvcError {
  const knownActors = [...names].slice(0, MAX_SHOWN).map(([id, name]) => `${name} (${id})`);
  const reason = problem === undefined ? '' : `: ${problem}`;
  const applications = knownActors.length === 0 ? '' : ` Known: ${knownActors.join(', ')}.`;
  return new SvcError('usage', `--actor ${typedWord(typed, [...names.values()])} is no known actor${reason}`, {
    hint: `Give an id, at least ${MIN_CHARACTERS} characters of one, or the name of an application.${applications}`,
    facts: { candidates: [...names.keys()].slice(0, MAX_SHOWN) },
  });
}
