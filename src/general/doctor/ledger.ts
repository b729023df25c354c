import { requireCondition, SETTINGS_BYTES } from '../../au/ledger/ledger.ts';
import { openLedgerStore } from '../../au/ledger/open-store.ts';
import type { Context } from '../../cli/app/command.ts';
import { failedBy, type Finding, ok } from './finding.ts';

/** Checks that the place of the ledger can be read, and that it creates no object twice. Leaves it as it is. */
export async function checkLedger(context: Context): Promise<Finding[]> {
  const { value: location, origin } = context.settings.ledger;
  if (location === undefined) return [];
  try {
    const objects = await openLedgerStore(context, location);
    for await (const { path } of objects.list('')) {
      if (!/^[^/]+\/ledger\.json$/.test(path)) continue;
      const bytes = await objects.read(path, SETTINGS_BYTES);
      if (bytes === undefined) continue;
      await requireCondition(objects, path, bytes);
      return [ok('ledger', `${objects.name} (${origin.name}), creates no object twice`)];
    }
    return [ok('ledger', `${objects.name} (${origin.name}), begins with the first upload`)];
  } catch (error) {
    return [failedBy('ledger', error)];
  }
}
