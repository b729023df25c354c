// Closes a machine's own ledger after its claims moved to a shared one.

import type { LedgerFolder } from './objects.ts';
import { SvcError } from '../../base/errors.ts';
import { isObject, parsedJson } from '../../schema/json-value.ts';

const CLOSED = 'moved.json';

/** Records that this machine moved to another ledger. From then on, adding an entry to its own one fails. */
export async function closeLedger(folder: LedgerFolder, next: string): Promise<void> {
  await folder.create(CLOSED, Buffer.from(`${JSON.stringify({ version: 1, ledger: next })}\n`));
}

/** Checks that this machine's own ledger is still in use. A move to a shared ledger closes it, then reads all its entries. */
export async function requireOpen(folder: LedgerFolder): Promise<void> {
  const closed = await folder.read(CLOSED);
  if (closed === undefined) return;
  const value = parsedJson(Buffer.from(closed).toString());
  const ledgerName = isObject(value) && typeof value['ledger'] === 'string' ? value['ledger'] : undefined;
  throw new SvcError(
    'config',
    `this machine uses the ledger ${ledgerName ?? 'of other machines'} now; nothing was sent`,
    {
      hint: 'Set that ledger, and run the same command again.',
      next: ['profile', 'set', 'ledger', ledgerName ?? '<location>'],
    },
  );
}
