import { option } from './hint.ts';
import { conflicting, type Input, value, flag, rare } from './parameter.ts';
import { cursor, integer } from './value-parsers.ts';

/** The paging options of commands that list. */
export const PAGING_PARAMETERS = {
  limit: conflicting(['all'], value('-n, --limit <n>', 'stop after this many', integer(1))),
  all: flag('--all', 'every page, not only the newest'),
  start: value('--start <cursor>', 'resume from the cursor of an earlier run', cursor),
  pageSize: rare(value('--page-size <n>', 'items per request, 1 to 100', integer(1, 100))),
} as const;

export type PagingInput = Input<typeof PAGING_PARAMETERS>;

/** Returns the paging options as words that continue at a cursor, which is valid only with the same page size. */
export function pagingWords({ limit, all, pageSize }: PagingInput, start: string | undefined): string[] {
  return [
    ...option('--limit', limit?.toString()),
    ...(all ? ['--all'] : []),
    ...option('--page-size', pageSize?.toString()),
    ...option('--start', start),
  ];
}
