import { defineCommand } from '../../../cli/app/command.ts';
import { listPrinter, oneBatch } from '../../../cli/app/print.ts';
import { readConfig } from '../../../cli/config/config-file.ts';
import { filledColumns, profileView, profileRows, shown } from '../../profile-view.ts';

export const list = defineCommand({
  examples: [['svc profile list', 'names, base URLs, and which keys are stored']],
  newProfile: true,
  fields: profileView.fields,
  parameters: {},
  async run(context) {
    const { system, settings } = context;
    const rows = profileRows(system, readConfig(system).config, settings.profile.value).map((row) =>
      shown(context, row),
    );
    const print = await listPrinter(context, filledColumns(rows));
    await print(oneBatch(rows));
  },
});
