import { defineCommand } from '../../cli/app/command.ts';
import { value } from '../../cli/app/parameter.ts';
import { listPrinter, oneBatch } from '../../cli/app/print.ts';
import { integer } from '../../cli/app/value-parsers.ts';
import type { View } from '../../cli/output/view.ts';
import { startedDirectory, directoryParameter } from '../server-options.ts';

/** Requests that the sandbox received, and events that it delivered. */
const requestView: View = {
  name: 'request',
  fields: ['at', 'method', 'path', 'status', 'received', 'sent', 'key', 'application', 'event', 'aborted', 'fault'],
  columns: [
    { path: 'at', kind: 'time', priority: 3 },
    { path: 'method', kind: 'text' },
    { path: 'path', kind: 'text', minWidth: 32 },
    { path: 'status', kind: 'number', paint: (status) => (isRefusal(status) ? 'bad' : undefined) },
    { path: 'sent', header: 'bytes', kind: 'number', priority: 2 },
    { path: 'key', kind: 'text', priority: 1 },
    { path: 'application', kind: 'number', priority: 0 },
    { path: 'event', kind: 'text', priority: 0 },
  ],
};

// Status 0 means that there was no response.
function isRefusal(status: unknown): boolean {
  return typeof status === 'number' && (status >= 400 || status === 0);
}

export const requests = defineCommand({
  examples: [
    ['svc sandbox requests -n 20', 'the last twenty'],
    [
      'svc sandbox requests -o csv --excel-safe --fields at,path,status',
      'requests and when they were received, for a spreadsheet',
    ],
  ],
  paged: true,
  fields: requestView.fields,
  parameters: {
    limit: value('-n, --limit <n>', 'only the last n requests', integer(1)),
    directory: directoryParameter,
  },
  async run(context, { limit, directory }) {
    const print = await listPrinter(context, requestView);
    const { listRequests } = await import('../../emulator/ledger.ts');
    const found = listRequests(await startedDirectory(context, directory), limit);
    if (found.length === 0) context.notices.note('the sandbox has received no requests yet');
    await print(oneBatch(found));
  },
});
