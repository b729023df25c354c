import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { refuseNewer, SvcError } from '../../base/errors.ts';
import { writeFileAtomicSync } from '../../base/files/draft.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import type { Context } from '../../cli/app/command.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { knownTenant } from '../../cli/config/cache.ts';
import { parsedJson } from '../../schema/json-value.ts';
import { tenantText } from '../run/run-view.ts';
import type { RefreshDirectory } from './refresh-directory.ts';

/** The file, beside the list of exclusions, that names the tenant of all cycles in a directory. */
const NAME = 'tenant.json';

const tenantSchema = z.looseObject({ version: z.literal(1), tenant: z.string() });

type Place = Pick<RefreshDirectory, 'parent' | 'resolve'>;

/**
 * Checks that the cycles of a directory are those of the key's tenant. Another tenant's list of exclusions would leave out
 * the wrong cards, and be extended by them.
 * @throws SvcError `config`
 */
export function requireTenant(context: Context, directory: Place, tenant: string, again: readonly string[]): void {
  const of = tenantOf(directory);
  if (of === undefined || of === tenant) return;
  const facts = knownTenant(context.system, context.settings.profile.value, serviceOf(context));
  const here = facts?.id === tenant ? tenantText(facts) : tenant;
  throw new SvcError('config', `${directory.parent} has the cycles of tenant ${of}, and this key belongs to ${here}`, {
    hint: 'Nothing was submitted. Its list of exclusions is about cards of that tenant: choose its profile, or another directory for this tenant.',
    next: [...again, '--out-dir', `${directory.parent}-${tenant.slice(0, 8)}`],
    facts: { file: path.join(directory.parent, NAME), tenant: of },
  });
}

/** Notes whose cycles the directory has, unless that is known. */
export function noteTenant(directory: Place, tenant: string | undefined): void {
  if (tenant === undefined || tenantOf(directory) !== undefined) return;
  const text = `${JSON.stringify({ version: 1, tenant }, null, 2)}\n`;
  writeFileAtomicSync(directory.resolve(path.join(directory.parent, NAME)), text);
}

function tenantOf(directory: Place): string | undefined {
  const file = path.join(directory.parent, NAME);
  const resolved = directory.resolve(file);
  if (!fs.existsSync(resolved)) return undefined;
  const value = parsedJson(readRegularFileSync(resolved));
  refuseNewer(value, 1, file);
  const { data } = tenantSchema.safeParse(value);
  if (data !== undefined) return data.tenant;
  throw new SvcError('config', `${file} does not name a tenant`, {
    hint: 'Nothing was submitted. Restore the file from a copy, or name another directory with --out-dir.',
    facts: { file },
  });
}
