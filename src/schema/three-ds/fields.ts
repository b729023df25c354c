import * as z from 'zod/mini';
import { authenticateSchema } from './authenticate.ts';

/** The type of a field of the authenticate request. `free` is any object. */
export type FieldType = 'text' | 'flag' | 'number' | 'object' | 'list' | 'free';

/** A field of the authenticate request, as its schema describes it. */
export interface Field {
  /** The dotted path; empty for the body itself. Items of a list have their number as a part. */
  readonly path: string;
  readonly kind: FieldType;
  /** Whether the field is required in every body, or in every object that may contain it. */
  readonly required: boolean;
  readonly description: string;
  /** A valid value; undefined for objects and lists. */
  readonly example: unknown;
  readonly choices: readonly string[] | undefined;
  readonly members: ReadonlyMap<string, Field>;
  readonly item: Field | undefined;
}

/** The body of an authenticate request, read once from its schema. */
export const BODY: Field = fieldOf('', authenticateSchema);

/** Finds the field at a dotted path; undefined for an unknown path. All fields below a free object are free too. */
export function fieldAt(path: string): Field | undefined {
  let field: Field | undefined = BODY;
  for (const part of path === '' ? [] : path.split('.')) {
    if (field?.kind === 'free') return { ...field, path };
    field = field?.kind === 'list' && /^\d{1,4}$/.test(part) ? field.item : field?.members.get(part);
  }
  return field;
}

/** Returns all fields below a field, in documented order. */
export function fieldsBelow(field: Field): Field[] {
  return [...field.members.values()].flatMap((member) => [member].concat(fieldsBelow(member)));
}

function fieldOf(path: string, schema: z.ZodMiniType): Field {
  const inner = schema instanceof z.ZodMiniOptional ? schema.def.innerType : schema;
  const { description = '', examples } = z.globalRegistry.get(inner) ?? {};
  const element = inner instanceof z.ZodMiniArray ? inner.def.element : undefined;
  return {
    path,
    kind: fieldTypeOf(inner),
    required: !(schema instanceof z.ZodMiniOptional),
    description,
    example: Array.isArray(examples) ? (examples[0] as unknown) : undefined,
    choices: inner instanceof z.ZodMiniEnum ? inner.options.map(String) : undefined,
    members: membersOf(path, inner),
    item: element instanceof z.ZodMiniType ? fieldOf(`${path}.0`, element) : undefined,
  };
}

function membersOf(path: string, schema: unknown): Map<string, Field> {
  const shape: unknown = schema instanceof z.ZodMiniObject ? schema.shape : {};
  const members = Object.entries(shape as Record<string, z.ZodMiniType>);
  return new Map(members.map(([name, member]) => [name, fieldOf(path === '' ? name : `${path}.${name}`, member)]));
}

function fieldTypeOf(schema: unknown): FieldType {
  if (schema instanceof z.ZodMiniObject) return 'object';
  if (schema instanceof z.ZodMiniArray) return 'list';
  if (schema instanceof z.ZodMiniRecord) return 'free';
  if (schema instanceof z.ZodMiniBoolean) return 'flag';
  return schema instanceof z.ZodMiniNumber ? 'number' : 'text';
}
