import { defineCommand } from '../../cli/command.ts';
import { value } from '../../cli/parameter.ts';
import { listPrinter, once } from '../../cli/print.ts';
import { integer } from '../../cli/values.ts';
import { sandboxRequestView } from '../../views/sandbox.ts';
import { directoryFrom, directoryParameter } from './server-options.ts';

/** `svc sandbox requests` */
export const requests = defineCommand({
  name: 'requests',
  summary: 'every request that reached the sandbox, and every event that it brought to a webhook',
  examples: [
    ['svc sandbox requests -n 20', 'the last twenty'],
    [
      'svc sandbox requests -o csv --excel-safe --fields at,path,status',
      'what was asked when, for a spreadsheet',
    ],
  ],
  paged: true,
  fields: sandboxRequestView.fields,
  parameters: {
    limit: value('-n, --limit <n>', 'only the last so many', integer(1)),
    directory: directoryParameter,
  },
  async run(context, { limit, directory }) {
    const print = await listPrinter(context, sandboxRequestView);
    const { listRequests } = await import('../../sandbox/requests.ts');
    const found = listRequests(directoryFrom(context, directory), limit);
    if (found.length === 0) context.notices.note('the sandbox has had no request yet');
    await print(once(found));
  },
});
