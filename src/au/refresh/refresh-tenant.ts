import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { refuseNewer, SvcError } from '../../base/errors.ts';
import { writeFileAtomicSync } from '../../base/files/draft.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import type { Context } from '../../cli/app/command.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { parsedJson } from '../../schema/json-value.ts';
import { tenantText } from '../../cli/app/tenant-mark.ts';
import type { RefreshDirectory } from './refresh-directory.ts';
import { inDirectory } from './refresh-input.ts';

/** The file, beside the list of exclusions, that names the tenant of all cycles in a directory. */
export const TENANT = 'tenant.json';

const tenantSchema = z.looseObject({ version: z.literal(1), tenant: z.string() });

type Place = Pick<RefreshDirectory, 'parent' | 'resolve'>;

/**
 * Checks that the cycles of a directory are those of the key's tenant. Another tenant's list of exclusions would leave out
 * the wrong cards, and be extended by them.
 * @throws SvcError `config`
 */
export async function requireTenant(
  context: Context,
  directory: Place,
  tenant: string,
  again: readonly string[],
): Promise<void> {
  const of = notedTenant(directory);
  if (of === undefined || of === tenant) return;
  const service = serviceOf(context);
  const elsewhere = inDirectory(again, `${directory.parent}-${tenant.slice(0, 8)}`);
  const here = tenantText(context, tenant);
  throw new SvcError('config', `${directory.parent} has the cycles of tenant ${of}, and this key belongs to ${here}`, {
    ...(service === 'sandbox'
      ? {
          hint: 'Nothing was submitted. A reset gives the sandbox a new tenant: use another directory.',
          next: elsewhere,
        }
      : { hint: OTHER_TENANT, next: ['profile', 'list'], alternatives: [elsewhere] }),
    facts: { file: path.join(directory.parent, TENANT), tenant: of },
  });
}

const OTHER_TENANT =
  'Nothing was submitted. Use the profile of that tenant (--profile). For this tenant, use another directory: if it has an exclusions.csv, copy that file there first, because closed accounts are submitted without it.';

/** Notes whose cycles the directory has, unless that is known. */
export function noteTenant(directory: Place, tenant: string | undefined): void {
  if (tenant === undefined || notedTenant(directory) !== undefined) return;
  const text = `${JSON.stringify({ version: 1, tenant }, null, 2)}\n`;
  writeFileAtomicSync(directory.resolve(path.join(directory.parent, TENANT)), text);
}

/** Returns the tenant whose cycles the directory has; undefined before their first submission. @throws SvcError `config` */
export function notedTenant(directory: Place): string | undefined {
  const file = path.join(directory.parent, TENANT);
  const resolved = directory.resolve(file);
  const stat = fs.statSync(resolved, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  const value = stat.isFile() ? parsedJson(readRegularFileSync(resolved)) : undefined;
  refuseNewer(value, 1, file);
  const { data } = tenantSchema.safeParse(value);
  if (data !== undefined) return data.tenant;
  throw new SvcError('config', `${file} does not name a tenant`, {
    hint: 'Nothing was submitted. Restore the file from a copy, or name another directory with --out-dir.',
    facts: { file },
  });
}
