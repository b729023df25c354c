import { defineCommand } from '../../cli/command.ts';
import { argument } from '../../cli/parameter.ts';
import { recordPrinter } from '../../cli/print.ts';
import { text } from '../../cli/values.ts';
import { checkedFileRow, checkedFileView } from '../../views/request-file.ts';

/** `svc au check` */
export const check = defineCommand({
  name: 'check',
  summary: 'check a request file without sending anything',
  description:
    'The file is UTF-8 with the header token,expiration_year,expiration_month,merchant_id. Every problem is named by its line; a card number anywhere is refused, and never shown.',
  examples: [
    ['svc au check tokens.csv', 'before it is submitted'],
    ['cat tokens.csv | svc au check -', 'from a pipe'],
  ],
  exitCodes: [13],
  fields: checkedFileView.fields,
  parameters: { file: argument('<file|->', 'a request file, or - for standard input', text) },
  async run(context, { file }) {
    const { openRequestFile } = await import('../../cli/request-file.ts');
    const print = await recordPrinter(context, checkedFileView);
    const { name, check: result } = await openRequestFile(context, file);
    await print(checkedFileRow(name, result));
    context.notices.note('the file is in order');
  },
});
