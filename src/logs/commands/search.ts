import { isSvcError } from '../../base/errors.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { flag, value } from '../../cli/app/parameter.ts';
import { listPrinter } from '../../cli/app/print.ts';
import { integer } from '../../cli/app/value-parsers.ts';
import type { Log } from '../../schema/log.ts';
import { archiveLocation } from '../archive/open-archive.ts';
import { type CardEntry, cardEntry, cardEntryView, entryHasCardNumber } from '../search/card-members.ts';
import { searchArchive } from '../search/search-archive.ts';
import {
  actorNames,
  ENTITY_PARAMETERS,
  FULL_PARAMETER,
  INTERVAL_PARAMETERS,
  MONTH_PARAMETER,
  STRICT_PARAMETER,
  UNMARKED_ENTRY_PARAMETERS,
} from '../options.ts';
import { logView, viewWith } from '../view.ts';

export const search = defineCommand({
  description:
    'Entries come oldest first; those without a readable time come last, and only without --since and --until. Each file that is read is checked against the manifest. Works offline without --live.',
  examples: [
    ['svc logs search audit --since 90d --entity-type card --operation delete', 'deletions of a quarter'],
    [
      'svc logs search audit --since 2026-01-31 --until 2026-02-01 --live -o csv --excel-safe',
      'a day, for a spreadsheet',
    ],
    ['svc logs search audit --actor 3f2c… --grep "token .* read"', 'what an actor read, at any time'],
    ['svc logs search audit --card-numbers', 'where the archive has card numbers, without showing any'],
  ],
  exitCodes: [
    4,
    5,
    7,
    8,
    [12, 'a file of the archive was changed or is damaged'],
    [14, 'the archive does not cover the requested time (with --strict)'],
  ],
  endsWithReader: true,
  fields: [...new Set([...logView.fields, ...cardEntryView.fields])],
  parameters: {
    dir: archiveLocation,
    ...INTERVAL_PARAMETERS,
    month: MONTH_PARAMETER,
    ...ENTITY_PARAMETERS,
    ...UNMARKED_ENTRY_PARAMETERS,
    limit: value('-n, --limit <n>', 'stop after this many', integer(1)),
    live: flag('--live', 'add the newer entries that only the service has'),
    full: FULL_PARAMETER,
    strict: STRICT_PARAMETER,
    cardNumbers: flag('--card-numbers', 'list where card numbers are: ids and members, no numbers'),
  },
  async run(context, { cardNumbers, ...input }) {
    const { print, ...view } = cardNumbers ? await cardNumberPrinter(context) : await entryPrinter(context);
    await searchArchive(context, input, print, view).catch((error: unknown) => {
      throw wantsArchive(error);
    });
  },
});

async function entryPrinter(context: Context) {
  const actors = actorNames(context, 'archive');
  return { print: await listPrinter(context, viewWith(context, actors)), actors };
}

async function cardNumberPrinter(context: Context) {
  const printCards = await listPrinter(context, cardEntryView);
  const print = (batches: AsyncIterable<readonly Log[]>) => printCards(cardEntries(batches));
  return { print, isWanted: entryHasCardNumber };
}

async function* cardEntries(batches: AsyncIterable<readonly Log[]>): AsyncGenerator<readonly CardEntry[]> {
  for await (const batch of batches) yield batch.map(cardEntry);
}

/** Names the command that searches the service, where no archive is: a text may stand in its place. */
function wantsArchive(error: unknown): unknown {
  if (!isSvcError(error, 'not_found')) return error;
  const { message, next } = error;
  return error.with({
    message: `${message}; this command searches an archive`,
    hint: 'To search the service, or to make an archive first:',
    next: ['logs', 'list', '--all', '--grep', '<text>'],
    alternatives: next && [next],
  });
}
