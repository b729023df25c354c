import { defineCommand } from '../../cli/command.ts';
import {
  checkPaging,
  nothingSeen,
  pageSizeFor,
  PAGING_PARAMETERS,
  tellRest,
  wanted,
} from '../../cli/paging.ts';
import { listPrinter } from '../../cli/print.ts';
import { jobView } from '../../views/job.ts';

/** `svc au list` */
export const list = defineCommand({
  name: 'list',
  summary: 'jobs of the tenant, newest first',
  examples: [
    ['svc au list', 'the newest page'],
    ['svc au list --all --fields id,status', 'every job the service still knows'],
  ],
  permissions: ['account-updater:job:read'],
  paged: true,
  fields: jobView.fields,
  parameters: PAGING_PARAMETERS,
  async run(context, input) {
    checkPaging(input);
    const print = await listPrinter(context, jobView);
    const client = await context.client();
    const pages = client.accountUpdater.list({ start: input.start, pageSize: pageSizeFor(input) });
    const seen = nothingSeen();
    await print(wanted(pages.pages(), input, seen));
    tellRest(context, seen, "no jobs; 'svc au submit <file>' makes one");
  },
  async request(_, input) {
    checkPaging(input);
    const [{ listJobsRequest }, { pageRequest }] = await Promise.all([
      import('../../api/account-updater.ts'),
      import('../../api/cursor-pages.ts'),
    ]);
    return pageRequest(listJobsRequest(), { start: input.start, pageSize: pageSizeFor(input) });
  },
});
