import { defineCommand } from '../../../cli/app/command.ts';
import { listPrinter, oneBatch } from '../../../cli/app/print.ts';
import { readConfig } from '../../../cli/config/config-file.ts';
import { profileView, profileRows, shown } from '../../profile-view.ts';

export const list = defineCommand({
  examples: [['svc profile list', 'names, base URLs, and which keys are stored']],
  newProfile: true,
  fields: profileView.fields,
  parameters: {},
  async run(context) {
    const print = await listPrinter(context, profileView);
    const rows = profileRows(readConfig(context.system).config, context.settings.profile.value);
    await print(oneBatch(rows.map((row) => shown(context, row))));
  },
});
