import { SvcError } from '../../base/errors.ts';
import { defineCommand } from '../../cli/app/command.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import type { View } from '../../cli/output/view.ts';

const documentView: View = { name: 'document', fields: ['*'], columns: [] };

export const openapi = defineCommand({
  description: 'Generated from the routes and schemas of the sandbox. Prints JSON, or YAML with -o yaml.',
  examples: [
    ['svc sandbox openapi > openapi.json', 'for other tools'],
    ['svc sandbox openapi -o yaml', 'to read'],
  ],
  paged: true,
  onlyPrints: true,
  fields: documentView.fields,
  parameters: {},
  async run(context) {
    const format = context.settings.output.value ?? 'json';
    if (format !== 'json' && format !== 'yaml')
      throw new SvcError('usage', 'the document is written as json or yaml', { hint: 'Choose -o json or -o yaml.' });
    const { openApiDocument } = await import('../../emulator/openapi/document.ts');
    const document = openApiDocument();
    if (context.query) {
      const print = await recordPrinter(context, documentView);
      return print(document);
    }
    if (format === 'json') return context.out.write(`${JSON.stringify(document, undefined, 2)}\n`);
    const { stringify } = await import('yaml');
    return context.out.write(stringify(document, { aliasDuplicateObjects: false }));
  },
});
