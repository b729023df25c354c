import { EVERY_MEANING } from './every-meaning.ts';
import { jsonSchema, type JsonSchema } from '../schema/json-schema.ts';
import { objectOrUndefined } from '../schema/json-value.ts';
import { ownMember } from '../schema/own-member.ts';
import type { Shape } from '../schema/response.ts';

/** The shape of a row that comes from the service. */
interface RowShape {
  /** The kind of the row's fields in the glossary. */
  readonly kind: string;
  readonly load: () => Promise<Shape>;
}

const loadLog = () => import('../schema/log.ts');
const loadUpdater = () => import('../schema/account-updater.ts');
const loadSession = () => import('../schema/three-ds/session.ts');

const log: RowShape = { kind: 'log entry', load: async () => (await loadLog()).logSchema };
const entityType: RowShape = { kind: 'entity type', load: async () => (await loadLog()).entityTypeSchema };
const tenant: RowShape = { kind: 'tenant', load: async () => (await import('../schema/tenant.ts')).tenantSchema };
const job: RowShape = { kind: 'job', load: async () => (await loadUpdater()).accountUpdaterJobSchema };

/** The shapes of rows that come from the service, by the words of the command that prints them. */
export const ROW_SHAPES: Readonly<Record<string, RowShape>> = {
  'logs list': log,
  'logs tail': log,
  'logs search': log,
  'logs history': log,
  'logs entity-types': entityType,
  'tenant show': tenant,
  'tenant update': tenant,
  'au jobs': job,
  'au create': job,
  'au upload': job,
  'events listen': { kind: 'event', load: async () => (await loadUpdater()).webhookDeliverySchema },
  '3ds create': { kind: 'created 3DS session', load: async () => (await loadSession()).createdSessionSchema },
  '3ds show': { kind: '3DS session', load: async () => (await loadSession()).threeDsSessionSchema },
  '3ds template': {
    kind: 'authenticate request',
    load: async () => (await import('../schema/three-ds/authenticate.ts')).authenticateSchema,
  },
  '3ds authenticate': { kind: 'authentication', load: async () => (await loadSession()).authenticationResultSchema },
  '3ds challenge-result': { kind: 'authentication', load: async () => (await loadSession()).challengeResultSchema },
};

/**
 * Returns the JSON Schema of a row that a command prints. A row from the service has the types of the response; all other
 * fields have no types. Returns undefined for a command that prints no data.
 */
export async function rowSchema(words: string, fields: readonly string[] | undefined): Promise<JsonSchema | undefined> {
  if (fields === undefined) return undefined;
  const shape = ownMember(ROW_SHAPES, words);
  const schema: JsonSchema = shape === undefined ? { type: 'object' } : jsonSchema(await shape.load());
  return described(withFields(schema, fields), shape?.kind ?? '');
}

/** Adds missing fields to a schema. Gives their parents no type, since a parent may be a list. */
function withFields(schema: JsonSchema, fields: readonly string[]): JsonSchema {
  return fields.reduce((result, field) => withField(result, field.split('.')), schema);
}

function withField(schema: JsonSchema, path: readonly string[]): JsonSchema {
  const [name, ...rest] = path;
  if (name === undefined || name === '*') return schema;
  // A value that may be null is an `anyOf`: its fields are in the object alternative.
  if (Array.isArray(schema['anyOf'])) {
    const alternatives = schema['anyOf'].map((one: JsonSchema) =>
      one['type'] === 'object' ? withField(one, path) : one,
    );
    return { ...schema, anyOf: alternatives };
  }
  const properties = objectOrUndefined(schema['properties']) ?? {};
  const known = objectOrUndefined(properties[name]) ?? {};
  return { ...schema, properties: { ...properties, [name]: withField(known, rest) } };
}

/** Adds the meanings of the glossary to the fields that have no description. */
function described(schema: JsonSchema, kind: string): JsonSchema {
  const choices = schema['anyOf'];
  if (Array.isArray(choices)) {
    return { ...schema, anyOf: choices.map((choice) => described(objectOrUndefined(choice) ?? {}, kind)) };
  }
  const properties = objectOrUndefined(schema['properties']);
  if (properties === undefined) return schema;
  const entries = Object.entries(properties).map(([name, property]) => {
    const inner = described(objectOrUndefined(property) ?? {}, kindBelow(name, kind));
    const description = meaningOf(name, kind);
    return [name, description === undefined ? inner : { description, ...inner }] as const;
  });
  return { ...schema, properties: Object.fromEntries(entries) };
}

function meaningOf(name: string, kind: string): string | undefined {
  const kinds = new Set([`field of a ${kind}`, `field of an ${kind}`, `field of ${kind}`, kind]);
  return EVERY_MEANING.find((meaning) => meaning.name === name && kinds.has(meaning.kind))?.means;
}

/** Returns the glossary kind of the fields inside a field; the kind of the outer field if the glossary has no other. */
function kindBelow(name: string, kind: string): string {
  if (name === 'settings') return 'tenant setting';
  const isKnown = EVERY_MEANING.some((meaning) => meaning.kind.replace(/^field of (?:an? )?/, '') === name);
  return isKnown ? name : kind;
}
