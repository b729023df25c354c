import { SvcError } from '../../../base/errors.ts';
import { defineCommand } from '../../../cli/app/command.ts';
import { flag } from '../../../cli/app/parameter.ts';
import { listPrinter, oneBatch } from '../../../cli/app/print.ts';
import type { View } from '../../../cli/output/view.ts';
import type { RepairedObject } from '../../ledger/repair-ledger.ts';

const repairView: View<RepairedObject> = {
  name: 'object',
  fields: ['object', 'status', 'sha256', 'abandon', 'job', 'freed_by'],
  columns: [
    { path: 'object', kind: 'text' },
    { path: 'status', kind: 'status' },
    { path: 'sha256', kind: 'id', priority: 1 },
    { path: 'job', kind: 'id', priority: 1 },
  ],
};

export const repair = defineCommand({
  description:
    "Puts entries and sets of rows back that are missing in the tenant's ledger and of which this machine has a copy. A ledger that one machine has alone has no copies: lost claims are entered again from its runs. An object that exists is never replaced.",
  details:
    'Run it on each machine that used the ledger. Where nothing of the ledger is left, it puts nothing back without --whole: a volume may not be mounted. With --moved, the machine goes on with the ledger in the place that is set now, if that has all that this machine read and nothing of it is left in the old place. A cut or changed object stays: whoever administers the place of the ledger restores it, or removes exactly that object and runs this command again. A forked entry has the number of another one that this machine read, because the ledger was restored to an older time and went on: remove neither. A cut last entry that nobody has may have been a claim of any row, until svc au abandon <cycle>/<number>.',
  examples: [
    ['svc au ledger repair', 'after the message that the ledger is damaged'],
    ['svc au ledger repair --moved', 'after the whole ledger was moved to the place that is set now'],
  ],
  permissions: ['account-updater:job:read'],
  exitCodes: [
    [3, 'something damaged exists or has no copy here, rows of entries were freed, or the place has another ledger'],
  ],
  fields: repairView.fields,
  parameters: {
    whole: flag('--whole', 'put the whole ledger back where nothing of it is left'),
    moved: flag('--moved', 'the whole ledger is in the place that is set now, and no machine uses the old one'),
  },
  async run(context, options) {
    const { CommandLedger } = await import('../../ledger/command-ledger.ts');
    const { remainingDamage } = await import('../../ledger/repair-ledger.ts');
    const { tenantOfKey } = await import('../../run/tenant-proof.ts');
    const print = await listPrinter(context, repairView);
    const client = await context.client();
    const tenant = await tenantOfKey(client);
    if (tenant === undefined)
      throw new SvcError('bad_response', 'the service does not name the tenant of this key, which the ledger needs');
    const ledger = new CommandLedger(context);
    if (options.moved) await ledger.acceptMoved(tenant);
    const found = await ledger.repair(client, tenant, options);
    await print(oneBatch(found));
    const error = remainingDamage(found);
    if (error) throw error;
    if (found.length === 0) context.notices.note('nothing is missing in the ledger');
  },
  request: async () => (await import('../../send/first-requests.ts')).firstRequest(),
});
