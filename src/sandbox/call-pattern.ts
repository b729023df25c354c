/** Which requests are meant: a method or `*`, and a path in which `*` stands for one part and `**` for any. */
export interface CallPattern {
  readonly method: string;
  readonly path: string;
}

/** Reads `GET /logs`, `* /3ds/**`. Undefined for anything else. */
export function readCallPattern(text: string): CallPattern | undefined {
  const [, method, path] = /^(\*|[A-Z]+) (\*\*|\/[^\s:?#]*)$/.exec(text) ?? [];
  return method === undefined || path === undefined ? undefined : { method, path };
}

/** Whether a request is meant. A query does not count. */
export function matchesCall(pattern: CallPattern, method: string, target: string): boolean {
  if (pattern.method !== '*' && pattern.method !== method) return false;
  const [path = ''] = target.split('?', 1);
  return expressionOf(pattern.path).test(path);
}

const known = new Map<string, RegExp>();

function expressionOf(path: string): RegExp {
  let expression = known.get(path);
  if (expression === undefined) {
    const parts = path
      .split(/(\*\*|\*)/)
      .map((part) => WILD[part] ?? part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
    expression = new RegExp(`^${parts.join('')}$`, 's');
    known.set(path, expression);
  }
  return expression;
}

const WILD: Readonly<Record<string, string>> = { '*': '[^/]+', '**': '.*' };
