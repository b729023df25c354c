// What svc checks of each page, one by one: `bench/logs.mjs` adds each to the plain walk, which gives the floor of a command.
import { createHash } from 'node:crypto';
import { createDeflateRaw } from 'node:zlib';
import { keepSource, listSource } from '../../src/base/json/source.ts';
import { containsCardNumber } from '../../src/base/security/card-number.ts';
import { parseTime } from '../../src/cli/output/time.ts';
import { LOG_FIELDS } from '../../src/schema/log-fields.ts';
import { type LogPage, looseLogPageSchema } from '../../src/schema/log.ts';

/** Each gets the text of a page, the page, and its lines, and returns the lines to print. */
type Check = (text: string, page: LogPage, linesOf: (page: LogPage) => string) => string;

export const CHECKS: Readonly<Record<string, Check>> = {
  /** Shows what loading this file takes. */
  none: (_, page, linesOf) => linesOf(page),
  'card numbers'(_, page, linesOf) {
    const lines = linesOf(page);
    if (containsCardNumber(lines)) throw new Error('a card number was found');
    return lines;
  },
  'exact text'(text, { data }) {
    const sources = listSource(text)?.items ?? [];
    for (const [at, source] of sources.entries()) keepSource(data[at] ?? {}, source);
    return sources.map((source) => `${source.text}\n`).join('');
  },
  'needed members'(_, page, linesOf) {
    const isPage = looseLogPageSchema.safeParse(page).success;
    const areEntries = page.data.every(
      (log) =>
        parseTime(log.created_at) !== undefined && LOG_FIELDS.every((name) => typeof (log[name] ?? '') === 'string'),
    );
    if (!isPage || !areEntries) throw new Error('a member is missing');
    return linesOf(page);
  },
  compression(_, page, linesOf) {
    const lines = linesOf(page);
    hash.update(lines);
    deflate.write(lines);
    return lines;
  },
};

const hash = createHash('sha256');
const deflate = createDeflateRaw().resume();
