import { getNodeValue } from 'jsonc-parser';
import { expect, it } from 'vitest';
import { checkBody } from '../../src/3ds/check-body.ts';
import { exampleBody } from '../../src/3ds/example-body.ts';
import { commentedTemplate } from '../../src/3ds/template.ts';
import { readJson } from '../../src/cli/config/json-text.ts';
import { BODY, fieldsBelow } from '../../src/schema/three-ds/fields.ts';
import type { Combination } from '../../src/schema/three-ds/needs.ts';
import { AUTHENTICATION_CATEGORIES, SESSION_TYPES_BY_AUTHENTICATION_TYPE } from '../../src/schema/three-ds/values.ts';
import { changed } from './bodies.ts';

type Known = Combination & { sessionType: 'customer' | 'merchant' };

const COMBINATIONS: readonly Known[] = Object.entries(SESSION_TYPES_BY_AUTHENTICATION_TYPE).flatMap(
  ([type, sessionTypes]) =>
    AUTHENTICATION_CATEGORIES.flatMap((category) =>
      sessionTypes.map((sessionType) => ({ type, category, sessionType })),
    ),
);

/** Returns the dotted paths of everything in a body. */
function pathsIn(body: object, prefix = ''): string[] {
  return Object.entries(body).flatMap(([name, value]) =>
    [`${prefix}${name}`].concat(typeof value === 'object' ? pathsIn(value as object, `${prefix}${name}.`) : []),
  );
}

it('templates are there for every combination', () => {
  expect(COMBINATIONS).toHaveLength(38);
});

it.each(COMBINATIONS)('R57: templates of $type, $category, $sessionType are right as they are', (combination) => {
  const body = getNodeValue(readJson(commentedTemplate(combination, exampleBody(combination)), 'comments'));
  expect(body).toEqual(exampleBody(combination));
  expect(body).toMatchObject({ authentication_type: combination.type, authentication_category: combination.category });
  expect(checkBody(body, combination.sessionType)).toEqual([]);
});

it.each(COMBINATIONS)(
  'R57: templates of $type, $category, $sessionType hold nothing that is not needed',
  (combination) => {
    const body = exampleBody(combination);
    for (const path of pathsIn(body))
      expect(checkBody(changed(body, path, undefined), combination.sessionType).map((broken) => broken.path)).toContain(
        path,
      );
  },
);

it('templates say something of every field, in words that fit on a line', () => {
  for (const { path, description, kind, example } of fieldsBelow(BODY)) {
    expect(description, path).toMatch(/^[a-z].{6,}[^.]$/);
    expect(example !== undefined, path).toBe(['text', 'flag', 'number'].includes(kind));
  }
  const combination: Known = { type: 'payment-transaction', category: 'payment', sessionType: 'customer' };
  const text = commentedTemplate(combination, exampleBody(combination));
  for (const line of text.split('\n').filter((one) => /": ["\d]/.test(one))) expect(line).toMatch(/ \/\/ [a-z]/);
});
