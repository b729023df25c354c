// Reads a change of a tenant from a file.

import { SvcError } from '../base/errors.ts';
import { isObject } from '../cli/output/view.ts';
import { inLine, type LineOf, type TenantChange } from './change.ts';
import { checkSettingValue, checkTenantName, refusedValue } from './values.ts';

/** A file with a tenant, or a part of one. */
interface TenantFile {
  readonly name: string;
  readonly value: unknown;
  readonly lineOf: LineOf;
}

/**
 * Reads a change from a file with a tenant, or with some members of a tenant.
 * @throws SvcError `refused_input` for any other content, also for a file without members
 */
export function changeFromFile({ name: file, value, lineOf }: TenantFile): TenantChange {
  const { name, settings, ...expected } = objectIn(value, 'the file');
  if (name !== undefined && typeof name !== 'string')
    throw refusedValue(`name must be a string${inLine(lineOf(['name']))}`);
  const each = Object.entries(objectIn(settings ?? {}, 'settings'));
  const change: TenantChange = {
    name: name === undefined ? undefined : asInput(() => checkTenantName(name), lineOf(['name'])),
    settings: new Map(each.flatMap((one) => settingIn(one, lineOf(['settings', one[0]])))),
    expected: new Map(Object.entries(expected)),
    lineOf,
    file,
  };
  if (change.name !== undefined || change.settings.size + change.expected.size > 0) return change;
  throw new SvcError('refused_input', `${file} names nothing to compare: no name, no setting and no other member`, {
    hint: "Name what the tenant should have, as 'svc tenant export' does.",
    next: ['tenant', 'export'],
  });
}

function settingIn([name, value]: [string, unknown], line: number | undefined): [name: string, text: string][] {
  // An exported file may have settings without a value, which stay as they are.
  if (value === null) return [];
  if (typeof value !== 'string' && typeof value !== 'boolean')
    throw refusedValue(`settings.${name} must be a string, true or false${inLine(line)}`);
  asInput(() => checkSettingValue(name, String(value)), line);
  return [[name, String(value)]];
}

function objectIn(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value;
  throw refusedValue(`${what} must be an object`);
}

/** Turns a usage error of `check` into refused input, for values from a file. */
function asInput<T>(check: () => T, line?: number): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const text = error.message.replace(/; nothing was sent$/, '');
    const { code, message, hint } = refusedValue(text + inLine(line), error.hint);
    throw error.with({ code, message, hint });
  }
}
