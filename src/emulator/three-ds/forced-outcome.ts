import { ownMember } from '../../schema/own-member.ts';
import { OUTCOME_WORDS, outcomeWord } from '../../schema/three-ds/outcome-words.ts';
import type { AuthenticationStatus } from '../../schema/three-ds/values.ts';
import { FaultSyntaxError, isOccasion, itemsIn, type Occasion, readEach, readOccasion } from '../faults/occasion.ts';
import { memoized, mix } from '../seed/random.ts';
import type { ForcedOutcome } from '../state/events.ts';
import type { Session, SetOutcome, World } from '../state/world.ts';
import { THREE_DS_CARDS } from '../seed/test-cards.ts';

/** An outcome, and the authentications to which it applies. */
interface OutcomeRule {
  readonly outcome: ForcedOutcome;
  readonly occasion: Occasion;
  readonly target: Target;
  readonly matches: (session: Session) => boolean;
}

/** The session or card to whose authentications an outcome applies; neither means all. */
interface Target {
  readonly session?: string | undefined;
  readonly card?: string;
}

/** Chooses the outcome of a session's authentication: the first outcome, in order, that applies to the session. */
export function forcedOutcome(world: World, outcomes: readonly SetOutcome[], session: Session) {
  for (const [index, { text, since }] of outcomes.entries()) {
    const { outcome, occasion, matches } = readOutcome(text);
    const number = authenticationsOf(world, { text, since }) + 1;
    const chance = mix(world.start.seed, index, number, since);
    if (matches(session) && isOccasion(occasion, number, chance)) return outcome;
  }
  return undefined;
}

/** Counts the matching authentications since an outcome was set, including those to which the outcome did not apply. */
export function authenticationsOf({ authenticated }: World, { text, since }: SetOutcome): number {
  // A reset deleted the authentications that came before the outcome.
  const later = authenticated.slice(since > authenticated.length ? 0 : since);
  return later.filter(readOutcome(text).matches).length;
}

/**
 * Parses an outcome in the syntax of faults, such as `status=failed,reason=card-expired@card 1471:#1`. The prefix
 * `authenticate:` is optional. Throws a `FaultSyntaxError`, which never repeats the input.
 */
export const readOutcome = memoized((text: string): OutcomeRule => {
  const [, effects, which, when] = /^(?:authenticate:\s*)?([^@:]+)(?:@([^@:]*))?(?::(\S+))?$/.exec(text.trim()) ?? [];
  if (effects === undefined)
    throw new FaultSyntaxError('expected an effect such as reason=card-expired, then @ and :#1 if needed');
  const target = readTarget(which);
  const matches = target.card === undefined ? ofSession(target.session ?? '*') : ofCard(target.card);
  return { outcome: readEffects(effects), occasion: readOccasion(when), target, matches };
});

/**
 * Parses outcomes, separated by newlines or semicolons. Throws a `FaultSyntaxError` with the number of the outcome, also for a
 * card or session that cannot exist.
 */
export function splitOutcomes(text: string): string[] {
  const items = itemsIn(text);
  readEach('outcome', items, (item) => {
    const { session = '*', card = '0000' } = readOutcome(item).target;
    if (!SESSION_ID.test(session)) throw new FaultSyntaxError('no session has this id: an id is a UUID');
    if (!CARD_NAME.test(card) && !isScenario(card))
      throw new FaultSyntaxError("no test card has this scenario: 'svc sandbox cards --3ds' lists them");
  });
  return items;
}

// A token or the last four digits, which a card that is created later may have.
const CARD_NAME = /^(?:[\da-f-]{36}|\d{4})$/i;
const SESSION_ID = /^(?:[\da-f-]{36}|\*)$/i;

function isScenario(start: string): boolean {
  return THREE_DS_CARDS.some(({ scenario }) => scenario.toLowerCase().startsWith(start.toLowerCase()));
}

function readEffects(text: string): ForcedOutcome {
  const effects = text.split(',').map((word) => {
    const effect = outcomeWord(word);
    if (effect !== undefined) return effect;
    const [name = ''] = word.trim().split('=');
    const values = ownMember(OUTCOME_WORDS, name);
    throw new FaultSyntaxError(
      values === undefined
        ? `expected ${Object.keys(OUTCOME_WORDS).join(', ')} or eci, and = with a value`
        : `${name} must be one of ${values.join(', ')}`,
    );
  });
  return withChallenge(Object.fromEntries(effects));
}

type Words = Omit<ForcedOutcome, 'status'> & { readonly status?: AuthenticationStatus };

// The status `challenge` means a challenge of the usual type that nobody has completed yet.
function withChallenge({ status, ...outcome }: Words): ForcedOutcome {
  if (status === 'challenge') return { challenge: 'dynamic', ...outcome };
  if (status === 'decoupled_challenge') return { ...outcome, challenge: 'decoupled' };
  return { ...outcome, ...(status !== undefined && { status }) };
}

const AUTHENTICATE = /^(?:|authenticate|(?:\*|POST) \/3ds\/sessions\/(\*|[\w-]+)\/authenticate)$/;

/** Parses the target: all authentications, or the authentications of a session or card. */
function readTarget(text = ''): Target {
  const endpoint = AUTHENTICATE.exec(text);
  if (endpoint !== null) return { session: endpoint[1] };
  const [, kind, name = ''] = /^(card|session) (\S.*)$/.exec(text) ?? [];
  if (kind === 'session') return { session: name };
  if (kind === 'card') return { card: name };
  throw new FaultSyntaxError(
    'expected card, session, or POST /3ds/sessions/*/authenticate after the @, such as card 1471 or session 5f0c…',
  );
}

function ofSession(id: string): OutcomeRule['matches'] {
  return (session) => id === '*' || session.id === id;
}

function ofCard(name: string): OutcomeRule['matches'] {
  // A whole card number is refused, since it would be stored and listed.
  if (/^\d{12,}$/.test(name)) throw new FaultSyntaxError('a card is named by its token, scenario or last four digits');
  const start = name.toLowerCase();
  const isBeginning = isScenario(name);
  return ({ created: { token, lastFour, scenario } }) =>
    token === name || lastFour === name || (isBeginning && scenario.toLowerCase().startsWith(start));
}
