import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { SessionType } from '../../src/schema/three-ds/values.ts';

/** A request of the interface and its response, with every member that the interface names. */
export interface InterfaceExample {
  readonly method: string;
  /** The path of the request; `webhook` for a delivery. */
  readonly path: string;
  readonly query?: string;
  /** The command that sends the request; `{id}` is the id in the path. */
  readonly command?: string;
  readonly status: number;
  readonly request?: unknown;
  readonly body: unknown;
  /** Members that a response need not have. `*` stands for any name. */
  readonly optional: readonly string[];
  /** Objects whose members the interface does not show. */
  readonly open?: readonly string[];
}

/** The session types that the interface gives for each authentication type: a copy of its table, not of the code. */
export const SESSIONS_OF: Readonly<Record<string, readonly SessionType[]>> = {
  'payment-transaction': ['customer'],
  'cardholder-emv-verification': ['customer'],
  'split-or-delayed-shipment': ['merchant'],
  'top-up': ['merchant'],
  'mail-order': ['merchant'],
  'telephone-order': ['merchant'],
  'whitelist-status-check': ['merchant'],
  'other-payment': ['merchant'],
  'billing-agreement': ['merchant'],
  'recurring-transaction': ['customer', 'merchant'],
  'installment-transaction': ['customer', 'merchant'],
  'add-card': ['customer', 'merchant'],
  'maintain-card': ['customer', 'merchant'],
  'account-verification': ['customer', 'merchant'],
};

const directory = new URL('../fixtures/interface/', import.meta.url);

/** The examples by the names of their files. */
export const INTERFACE_EXAMPLES: ReadonlyMap<string, InterfaceExample> = new Map(
  readdirSync(directory).map((file) => [
    basename(file, '.json'),
    JSON.parse(readFileSync(new URL(file, directory), 'utf8')) as InterfaceExample,
  ]),
);

/** Finds an example by its name. */
export function interfaceExample(name: string): InterfaceExample {
  const found = INTERFACE_EXAMPLES.get(name);
  if (found === undefined) throw new Error(`no example ${name}`);
  return found;
}

/** Returns the type of every member by its path: `data[].id` is a string. All elements of an array share one path. */
export function shapeOf(value: unknown, path = '', shape = new Map<string, string>()): Map<string, string> {
  if (Array.isArray(value)) {
    shape.set(path, 'array');
    for (const element of value) shapeOf(element, `${path}[]`, shape);
  } else if (typeof value === 'object' && value !== null) {
    if (path !== '') shape.set(path, 'object');
    for (const [name, member] of Object.entries(value)) shapeOf(member, path === '' ? name : `${path}.${name}`, shape);
  } else shape.set(path, value === null ? 'null' : typeof value);
  return shape;
}

/** Returns how a response differs from an example: members that are missing, unknown, or of another type. */
export function differences(response: unknown, { body, optional, open = [] }: InterfaceExample): string[] {
  const actual = shapeOf(response);
  const expected = shapeOf(body);
  const isOptional = (path: string): boolean =>
    optional.some((other) => other === path || (other.endsWith('.*') && path.startsWith(other.slice(0, -1))));
  const missing = [...expected.keys()].filter((path) => !actual.has(path) && !isOptional(path));
  const unknown = [...actual.keys()].filter(
    (path) => !expected.has(path) && !open.some((object) => path.startsWith(`${object}.`)),
  );
  const other = [...actual].filter(([path, type]) => {
    const wanted = expected.get(path);
    // The last page has no cursor.
    return wanted !== undefined && wanted !== type && !(path === 'pagination.next' && type === 'null');
  });
  return [
    ...missing.map((path) => `${path} is missing`),
    ...unknown.map((path) => `${path} is unknown`),
    ...other.map(([path, type]) => `${path} is of type ${type}`),
  ];
}
