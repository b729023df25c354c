/** What is said of the member of a shape that a path leads to: it reads well behind "must be". */
export function describe(shape: unknown, path: readonly PropertyKey[]): string {
  let found = unwrapped(shape);
  for (const name of path)
    found = unwrapped(typeof name === 'number' ? get(found, 'element') : get(get(found, 'shape'), name));
  const values = get(found, 'options');
  if (Array.isArray(values)) return `one of ${values.join(', ')}`;
  return descriptionOf(found) ?? 'an object';
}

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
