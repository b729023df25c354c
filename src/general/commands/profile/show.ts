import { defineCommand } from '../../../cli/app/command.ts';
import { optionalArgument, suggesting } from '../../../cli/app/parameter.ts';
import { recordPrinter } from '../../../cli/app/print.ts';
import { readConfig } from '../../../cli/config/config-file.ts';
import { unknownProfile } from '../../../cli/config/settings.ts';
import { profileView, profileRows, profileRow, shown } from '../../profile-view.ts';

export const show = defineCommand({
  examples: [['svc profile show', 'the current one']],
  fields: profileView.fields,
  parameters: { name: suggesting('profile', optionalArgument('[name]', 'a profile; by default the current one')) },
  async run(context, input) {
    const print = await recordPrinter(context, profileView);
    const current = context.settings.profile.value;
    const { config } = readConfig(context.system);
    const rows = profileRows(context.system, config, current);
    const found = rows.find(({ name }) => name === (input.name ?? current));
    // The default profile exists even before anything is stored in it.
    const row = found ?? (input.name === undefined ? profileRow(context.system, current, {}, current) : undefined);
    if (!row) throw unknownProfile(input.name ?? current, config);
    await print(shown(context, row));
  },
});
