import { authenticateSchema, type AuthenticateRequest } from '../../schema/three-ds/authenticate.ts';
import type { SessionType } from '../../schema/three-ds/values.ts';
import { invalidFields } from '../problem.ts';
import { brokenConditions, type Broken } from './conditions.ts';
import { describe } from './describe.ts';

/**
 * Checks the body of an authenticate request. Throws a 400 with every violation. Members that the interface does
 * not have are let pass.
 */
export function checkAuthenticate(body: unknown, sessionType: SessionType): AuthenticateRequest {
  removeStrangers(body);
  const parsed = authenticateSchema.safeParse(body);
  const broken = [
    ...(parsed.success ? [] : brokenFields(parsed.error.issues, body)),
    ...between(body, sessionType),
  ];
  if (broken.length > 0 || !parsed.success) throw invalidFields(grouped(broken));
  return parsed.data;
}

function removeStrangers(body: unknown): void {
  for (const issue of authenticateSchema.safeParse(body).error?.issues ?? []) {
    if (issue.code !== 'unrecognized_keys') continue;
    const holder = at(body, issue.path);
    if (typeof holder !== 'object' || holder === null) continue;
    for (const key of issue.keys) Reflect.deleteProperty(holder, key);
  }
}

function brokenFields(issues: readonly { readonly path: readonly PropertyKey[] }[], body: unknown): Broken[] {
  return issues.map(({ path }) => [
    path.map(String).join('.') || 'body',
    at(body, path) === undefined ? 'Is required.' : `Must be ${describe(authenticateSchema, path)}.`,
  ]);
}

function between(body: unknown, sessionType: SessionType): Broken[] {
  return brokenConditions({
    category: at(body, ['authentication_category']),
    type: at(body, ['authentication_type']),
    decoupled: at(body, ['request_decoupled_challenge']),
    sessionType,
    has: (path) => at(body, path.split('.')) !== undefined,
  });
}

function grouped(broken: readonly Broken[]): Record<string, string[]> {
  const errors: Record<string, string[]> = {};
  for (const [path, message] of broken) (errors[path] ??= []).push(message);
  return errors;
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = Reflect.get(found, name);
  }
  return found;
}
