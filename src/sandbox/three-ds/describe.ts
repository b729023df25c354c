/** What is said of the member of a shape that a path leads to: it reads well behind "must be". */
export function describe(shape: unknown, path: readonly PropertyKey[]): string {
  let found = unwrapped(shape);
  for (const name of path)
    found = unwrapped(typeof name === 'number' ? get(found, 'element') : get(get(found, 'shape'), name));
  const values = get(found, 'options');
  if (Array.isArray(values)) return `one of ${values.join(', ')}`;
  return TYPES[String(get(get(found, 'def'), 'type'))] ?? descriptionOf(found) ?? 'of another form';
}

// These need no closer words, and what is described of them tells what they mean, not what they must be.
const TYPES: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
};

// Optional members are wrapped once.
function unwrapped(shape: unknown): unknown {
  return get(get(shape, 'def'), 'innerType') ?? shape;
}

function descriptionOf(shape: unknown): string | undefined {
  const text = get(shape, 'description');
  return typeof text === 'string' ? text : undefined;
}

function get(value: unknown, name: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
