import { defineCommand } from '../../cli/command.ts';
import { recordPrinter } from '../../cli/print.ts';
import { SvcError } from '../../errors.ts';
import { answerView } from '../../views/answer.ts';

/** `svc sandbox openapi` */
export const openapi = defineCommand({
  name: 'openapi',
  summary: 'an OpenAPI 3.1 document of every endpoint that the sandbox has',
  description:
    'Made from the same table and the same shapes that the sandbox answers with. JSON, or YAML with -o yaml.',
  examples: [
    ['svc sandbox openapi > openapi.json', 'for other tools'],
    ['svc sandbox openapi -o yaml', 'to read'],
  ],
  paged: true,
  fields: ['*'],
  parameters: {},
  async run(context) {
    const format = context.settings.output.value ?? 'json';
    if (format !== 'json' && format !== 'yaml')
      throw new SvcError('usage', 'the document is written as json or yaml', {
        hint: 'Choose -o json or -o yaml.',
      });
    const { openApiDocument } = await import('../../sandbox/openapi/document.ts');
    const document = openApiDocument();
    if (context.query) {
      const print = await recordPrinter(context, answerView([]));
      return print(document);
    }
    if (format === 'json') return context.out.write(`${JSON.stringify(document, undefined, 2)}\n`);
    const { stringify } = await import('yaml');
    return context.out.write(stringify(document, { aliasDuplicateObjects: false }));
  },
});
