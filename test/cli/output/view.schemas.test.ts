import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { jobView } from '../../../src/au/job/job-view.ts';
import { authenticationView, sessionView } from '../../../src/3ds/view.ts';
import { create as createSession } from '../../../src/3ds/commands/create.ts';
import { entityTypes } from '../../../src/logs/commands/entity-types.ts';
import { logView } from '../../../src/logs/view.ts';
import { accountUpdaterJobSchema } from '../../../src/schema/account-updater.ts';
import { entityTypeListSchema, logSchema } from '../../../src/schema/log.ts';
import { tenantSchema, usageReportSchema } from '../../../src/schema/tenant.ts';
import {
  challengeResultSchema,
  createdSessionSchema,
  threeDsSessionSchema,
} from '../../../src/schema/three-ds/session.ts';
import { usageView } from '../../../src/tenant/commands/usage.ts';
import { tenantView } from '../../../src/tenant/view.ts';

type Schema = { readonly properties?: Record<string, Schema>; readonly items?: Schema; readonly anyOf?: Schema[] };

function jsonSchemaOf(shape: z.ZodMiniType): Schema {
  return z.toJSONSchema(shape, { unrepresentable: 'any', io: 'input' }) as Schema;
}

/** Returns the paths of all named members; for a list, the paths of its items. */
function pathsOf(schema: Schema): string[] {
  const { properties = {}, items, anyOf = [] } = schema;
  const own = Object.entries(properties).flatMap(([name, member]) => {
    const below = pathsOf(member);
    return below.length === 0 ? [name] : below.map((path) => `${name}.${path}`);
  });
  return [...own, ...(items ? pathsOf(items) : []), ...anyOf.flatMap(pathsOf)];
}

/** Tells whether a field shows a member: the field is the member or contains it. */
function covers(field: string, member: string): boolean {
  const path = field.replace(/\.\*$/, '');
  return member === path || member.startsWith(`${path}.`);
}

/**
 * The fields that help and TAB completion list without loading a schema. They are written by hand, so the test compares
 * them.
 */
const RESULTS: readonly (readonly [string, readonly string[] | undefined, z.ZodMiniType])[] = [
  ['tenant show', tenantView.fields, tenantSchema],
  ['tenant usage', usageView.fields, usageReportSchema],
  ['logs list', logView.fields, logSchema],
  ['logs entity-types', entityTypes.fields, entityTypeListSchema],
  ['au jobs', jobView.fields, accountUpdaterJobSchema],
  ['3ds create', createSession.fields, createdSessionSchema],
  ['3ds show', sessionView.fields, threeDsSessionSchema],
  ['3ds challenge-result', authenticationView.fields, challengeResultSchema],
];

it.each(RESULTS)(
  'the fields of a view of what the service sends of svc %s name every member that its schema names, and no other',
  (_, fields = [], shape) => {
    const members = pathsOf(jsonSchemaOf(shape));
    expect(members.filter((member) => !fields.some((field) => covers(field, member)))).toEqual([]);
    expect(fields.filter((field) => !members.some((member) => covers(field, member)))).toEqual([]);
  },
);
