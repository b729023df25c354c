import { conflicting, value, flag } from './parameter.ts';
import { integer, text } from './value-parsers.ts';

/** The paging options of commands that list. */
export const PAGING_PARAMETERS = {
  limit: conflicting(['all'], value('-n, --limit <n>', 'stop after this many', integer(1))),
  all: flag('--all', 'every page, not only the newest'),
  start: value('--start <cursor>', 'resume from the cursor of an earlier run', text),
  pageSize: value('--page-size <n>', 'items per request, 1 to 100', integer(1, 100)),
} as const;
