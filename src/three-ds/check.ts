import { containsCardNumber } from '../card-number.ts';
import { nearest } from '../nearest.ts';
import { authenticateSchema } from '../schema/three-ds/authenticate.ts';
import type { SessionType } from '../schema/three-ds/values.ts';
import { BODY, fieldAt, fieldsBelow } from './fields.ts';
import { authenticationTypesOf, type Combination, NEEDS, sessionTypesOf } from './rules.ts';
import { exampleBody } from './template.ts';
import { isObject, ownValue, type TextAt, textsIn } from './values-in.ts';
import { shownPath, type Violation, violationsOf, WHOLE } from './violation.ts';

/**
 * Everything that is wrong with the body of an authenticate request, in the order of the interface.
 * Without a session type the rules are those of the only type that the authentication type goes with;
 * where it goes with both, those of a customer session, which ask for less.
 */
export function checkBody(body: unknown, sessionType?: SessionType): Violation[] {
  const combination = combinationOf(body, sessionType);
  const examples = exampleBody(combination);
  const issues = authenticateSchema.safeParse(body).error?.issues ?? [];
  const found = issues.flatMap((issue) => violationsOf(issue, body, examples));
  if (found.some(({ path }) => path === WHOLE)) return found;
  return inOrder([
    ...found,
    ...wrongSessionType(combination, sessionType),
    ...missing(body, combination, examples),
    ...cardNumbers(body),
  ]);
}

// A mistyped value is a violation of its own; the rules that hang on it are those of the value that was meant.
function combinationOf(body: unknown, sessionType: SessionType | undefined): Combination {
  const type = meant(body, 'authentication_type');
  const [only, other] = sessionTypesOf(type);
  return {
    category: meant(body, 'authentication_category'),
    type,
    decoupled: ownValue(body, ['request_decoupled_challenge']),
    sessionType: sessionType ?? (other === undefined ? only : 'customer'),
  };
}

function meant(body: unknown, name: string): unknown {
  const value = ownValue(body, [name]);
  return typeof value === 'string' ? (nearest(value, fieldAt(name)?.choices ?? []) ?? value) : value;
}

function wrongSessionType({ type }: Combination, sessionType: SessionType | undefined): Violation[] {
  const allowed = sessionTypesOf(type);
  if (sessionType === undefined || allowed.length === 0 || allowed.includes(sessionType)) return [];
  const types = authenticationTypesOf(sessionType);
  const rule = `goes with sessions of type ${allowed.join(' and ')} only; a ${sessionType} session takes one of ${types.join(', ')}`;
  return [{ path: 'authentication_type', rule, example: types[0] }];
}

/** What only the combination of category, type and session makes necessary. */
function missing(body: unknown, combination: Combination, examples: unknown): Violation[] {
  return NEEDS.flatMap(({ path, when }) => {
    const parts = path.split('.');
    const holder = ownValue(body, parts.slice(0, -1));
    const isMissing = isObject(holder) && ownValue(body, parts) === undefined;
    if (!isMissing || !when.holds(combination)) return [];
    const what = fieldAt(path)?.description ?? '';
    return [{ path, rule: `is needed when ${when.words}: ${what}`, example: ownValue(examples, parts) }];
  });
}

// In these fields long runs of digits belong, and one may look like a card number by chance.
const DIGITS_BELONG =
  /^(?:purchase_info\.|merchant_info\.(?:mid|acquirer_bin)$|requestor_info\.id$|cardholder_info\.\w*phone_number\.)/;

function cardNumbers(body: unknown): Violation[] {
  return [...textsIn(body)]
    .filter((found) => containsCardNumber(found.text, 'cell') && !mayHoldDigits(found))
    .map(({ parts }) => ({
      path: shownPath(parts),
      rule: 'looks like a card number; none may be sent in a body',
    }));
}

function mayHoldDigits({ parts, isName }: TextAt): boolean {
  const path = parts.join('.');
  return !isName && DIGITS_BELONG.test(path) && fieldAt(path) !== undefined;
}

function inOrder(violations: readonly Violation[]): Violation[] {
  const order = fieldsBelow(BODY).map(({ path }) => path);
  const rank = ({ path }: Violation): number => {
    for (let prefix = path; prefix !== ''; prefix = prefix.replace(/(?:^|\.)[^.]*$/, '')) {
      const at = order.indexOf(prefix);
      if (at !== -1) return at;
    }
    return order.length;
  };
  const ranked = violations.map((violation) => ({ violation, rank: rank(violation) }));
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ violation }) => violation);
}
