import { type Context, defineCommand } from '../../app/command.ts';
import { rest } from '../../app/parameter.ts';
import { listPrinter, type ListPrinter, once, recordPrinter } from '../../app/print.ts';
import { type CheckedFileRow, checkedFileView } from './view.ts';

/** `svc au check` */
export const check = defineCommand({
  description:
    'A file is UTF-8 with the header token,expiration_year,expiration_month,merchant_id. Every problem is named by its line; a card number anywhere is refused, and never shown. On GitHub Actions the problems also stand beside the lines of the file.',
  examples: [
    ['svc au check tokens.csv', 'before it is submitted'],
    ['svc au check requests/*.csv', 'several, each with all its problems'],
    ['cat tokens.csv | svc au check -', 'from a pipe'],
  ],
  exitCodes: [13],
  fields: checkedFileView.fields,
  parameters: { files: rest('<file...>', 'request files, or - for standard input') },
  async run(context, { files }) {
    const { checkFiles } = await import('./request-file.ts');
    const printed = await (files.length === 1 ? onePrinter(context) : listPrinter(context, checkedFileView));
    const { rows, refused } = await checkFiles(context, files);
    await printed(once(rows));
    if (refused) throw refused;
    context.notices.success(files.length === 1 ? 'the file is valid' : 'all files are valid');
  },
});

/** A single file is one object, as it always was. */
async function onePrinter(context: Context): Promise<ListPrinter<CheckedFileRow>> {
  const print = await recordPrinter(context, checkedFileView);
  return async (batches) => {
    let count = 0;
    for await (const rows of batches)
      for (const row of rows) {
        await print(row);
        count += 1;
      }
    return count;
  };
}
