import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { isAbsent, readFailure, refuseNewer, SvcError } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { writeFileAtomicSync } from '../../base/files/draft.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import type { Setting } from '../../cli/config/values.ts';
import { parsedJson } from '../../schema/json-value.ts';

const usedSchema = z.looseObject({
  version: z.literal(1),
  /** The location of the ledger that machines share; absent while this state directory has its own. */
  ledger: z.optional(z.string()),
  /** Whether this machine may only read that ledger, so that it has not entered anything there. */
  pending: z.optional(z.boolean()),
});

/** What a state directory remembers of the ledger that it used for a tenant. */
export interface UsedLedger {
  readonly ledger?: string | undefined;
  readonly pending?: boolean | undefined;
}

const NAME = 'at.json';

/** Reads which ledger was used; undefined if there was none. @throws SvcError `config` for a damaged file */
export function readUsedLedger(directory: string): UsedLedger | undefined {
  const file = path.join(directory, NAME);
  let text: string;
  try {
    text = readRegularFileSync(file);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw readFailure(file, error);
  }
  const value = parsedJson(text);
  refuseNewer(value, 1, file);
  const used = usedSchema.safeParse(value);
  if (used.success) return used.data;
  throw new SvcError(
    'config',
    `${file} is damaged, so the shared ledger of this tenant is not known; nothing was sent`,
    { hint: 'Remove this file, and set the ledger that the other machines use.', facts: { file } },
  );
}

/** Returns the shared ledgers that a state directory used, by the folder of their tenant. `root` contains these folders. */
export function sharedLedgersUsed(root: string): ReadonlyMap<string, UsedLedger> {
  return new Map([...ledgersUsed(root)].filter(([, { ledger }]) => ledger !== undefined));
}

function ledgersUsed(root: string): ReadonlyMap<string, UsedLedger> {
  let folders: readonly string[];
  try {
    folders = fs.readdirSync(root);
  } catch (error) {
    if (isAbsent(error)) return new Map();
    throw readFailure(root, error);
  }
  const used = folders.map((folder) => [folder, readUsedLedger(path.join(root, folder))] as const);
  return new Map(used.flatMap(([folder, each]) => (each === undefined ? [] : [[folder, each]])));
}

/** Returns the folder of a tenant in a state directory. */
export function folderOfTenant(tenant: string): string {
  return /^[\w-]{1,80}$/.test(tenant) ? tenant : 'other';
}

export function writeUsedLedger(directory: string, { ledger, pending }: UsedLedger): void {
  makeDirectory(directory);
  writeFileAtomicSync(path.join(directory, NAME), `${JSON.stringify({ version: 1, ledger, pending })}\n`);
}

/**
 * Checks that a tenant's ledger is the one that this state directory used before. Without it, rows that other machines
 * sent would be paid for again.
 * @throws SvcError `config`
 */
export function requireSameLedger(
  used: UsedLedger | undefined,
  { value: location, origin }: Setting<string | undefined>,
  directory: string,
): void {
  if (used?.ledger === undefined || used.ledger === location) return;
  const { ledger } = used;
  // The variable decides, whatever a profile has.
  const isVariable = origin.kind === 'environment';
  const by = isVariable ? ` (${origin.name})` : '';
  const instead = location === undefined ? `no ledger is set${by}` : `the ledger is set to ${location}${by}`;
  const again = isVariable ? `Set ${origin.name} to ${ledger} again` : 'Set the ledger again';
  const moved =
    location === undefined
      ? ''
      : ` Only if the whole ledger was moved to ${location}, and no machine uses the old place any more, remove ${path.join(directory, NAME)} on each machine that used it.`;
  throw new SvcError('config', `this tenant's ledger is ${ledger}, and ${instead}; nothing was sent`, {
    hint: `${again}: rows that other machines sent would be paid for twice without it.${moved}`,
    // Scripts run the first command, so it is one that only reads.
    next: isVariable ? ['doctor'] : ['profile', 'set', 'ledger', ledger],
    facts: { ledger },
  });
}
