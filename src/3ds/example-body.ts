import { ownMember } from '../schema/own-member.ts';
import { BODY, type Field } from '../schema/three-ds/fields.ts';
import { type Combination, isNeeded } from '../schema/three-ds/needs.ts';

/** Returns a body with exactly the fields that a combination requires, each with the example from its schema. */
export function exampleBody(combination: Combination, { members }: Field = BODY): Record<string, unknown> {
  const needed = [...members].filter(([, member]) => member.required || isNeeded(member.path, combination));
  return Object.fromEntries(
    needed.map(([name, member]) => [
      name,
      member.kind === 'object' ? exampleBody(combination, member) : valueOf(member, combination),
    ]),
  );
}

// Copies only known values from the operator's body: an example must be valid, and must not reveal the body.
function valueOf({ path, choices, example }: Field, { category, type }: Combination): unknown {
  const given: Readonly<Record<string, unknown>> = { authentication_category: category, authentication_type: type };
  return choices?.find((choice) => choice === ownMember(given, path)) ?? example;
}
