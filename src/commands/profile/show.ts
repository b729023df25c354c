import { defineCommand } from '../../cli/command.ts';
import { optionalArgument, suggesting } from '../../cli/parameter.ts';
import { recordPrinter } from '../../cli/print.ts';
import { unknownProfile } from '../../config/profile.ts';
import { readConfig } from '../../config/store.ts';
import { profileView } from '../../views/profile.ts';
import { profileRow, profileRows } from './list.ts';

/** `svc profile show` */
export const show = defineCommand({
  name: 'show',
  summary: 'one profile: its settings, and which keys are stored',
  examples: [['svc profile show', 'the one in use']],
  fields: profileView.fields,
  parameters: {
    name: suggesting('profile', optionalArgument('[name]', 'a profile; the one in use when left out')),
  },
  async run(context, input) {
    const print = await recordPrinter(context, profileView);
    const current = context.settings.profile.value;
    const { config } = readConfig(context.system);
    const rows = profileRows(config, current);
    const found = rows.find(({ name }) => name === (input.name ?? current));
    // The default profile is in use even before anything is stored in it.
    const row = found ?? (input.name === undefined ? profileRow(current, {}, current) : undefined);
    if (!row) throw unknownProfile(input.name ?? current, config);
    await print(row);
  },
});
