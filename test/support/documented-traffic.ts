import { afterAll, vi } from 'vitest';
import { Ledger, type LedgerEntry } from '../../src/emulator/ledger.ts';
import { openApiDocument } from '../../src/emulator/openapi/document.ts';

type Responses = Readonly<Record<string, { readonly responses?: Readonly<Record<string, unknown>> }>>;

interface DocumentedPath {
  readonly pattern: RegExp;
  readonly methods: Responses;
}

let paths: readonly DocumentedPath[] | undefined;

// The document takes long to make, so tests without a sandbox do without.
function documentedPaths(): readonly DocumentedPath[] {
  paths ??= Object.entries(openApiDocument()['paths'] as Readonly<Record<string, Responses>>).map(
    ([template, methods]) => ({ pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`), methods }),
  );
  return paths;
}

// A status that the OpenAPI document of the sandbox does not list fails the tests of the sandbox that responds with it.

/** Returns the statuses of the sandbox itself that its OpenAPI document does not list: `POST /3ds/sessions 418`. */
export function undocumented(entries: readonly LedgerEntry[]): string[] {
  const found = entries.flatMap(({ method, path: target, status, fault, aborted, event }) => {
    const [path = ''] = target.split('?', 1);
    const operation = documentedPaths().find(({ pattern }) => pattern.test(path))?.methods[methodOf(method)];
    const isOwn = operation !== undefined && fault !== true && !aborted && event === undefined && status !== 0;
    return isOwn && operation.responses?.[status] === undefined ? [`${method} ${path} ${status}`] : [];
  });
  return [...new Set(found)];
}

// A HEAD is answered like a GET, without the body.
function methodOf(method: string): string {
  return method === 'HEAD' ? 'get' : method.toLowerCase();
}

// A ledger is closed when its sandbox ends, in a test or after the last one.
const closed = vi.spyOn(Ledger.prototype, 'close');

afterAll(() => {
  const statuses = closed.mock.contexts.flatMap((ledger) =>
    ledger instanceof Ledger ? undocumented(ledger.entries()) : [],
  );
  closed.mockRestore();
  if (statuses.length > 0) throw new Error(`not in the OpenAPI document: ${[...new Set(statuses)].join(', ')}`);
});
