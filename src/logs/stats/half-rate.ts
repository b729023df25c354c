import type { Context } from '../../cli/app/command.ts';
import { KNOWN_RATES, Pacer } from '../../client/http/pacer.ts';
import type { Page } from '../../client/api/pages.ts';
import type { Log } from '../../schema/log.ts';
import type { LogSource } from '../read-range.ts';

const HALF_RATES = KNOWN_RATES.map((rule) => Object.assign({}, rule, { count: Math.floor(rule.count / 2) }));

/** Returns a source that uses at most half of the key's rate, because at night other commands need the key too. */
export function atHalfRate({ settings, system }: Pick<Context, 'settings' | 'system'>, source: LogSource): LogSource {
  // Nobody else uses the key of an embedded sandbox.
  const isEmbedded = settings.sandbox && settings.baseUrl === undefined;
  if (isEmbedded || system.env['SVC_PACING'] === 'off') return source;
  const pacer = new Pacer(HALF_RATES, source.clock);
  async function* paced(pages: AsyncIterable<Page<Log>>): AsyncGenerator<Page<Log>> {
    const iterator = pages[Symbol.asyncIterator]();
    for (let isOpen = true; isOpen;) {
      const ended = await pacer.take({ key: 'management', path: '/logs' }, source.signal, () => undefined);
      const { value, done } = await iterator.next().finally(ended);
      if (done === true) return;
      yield value;
      isOpen = value.next !== undefined;
    }
  }
  return {
    clock: source.clock,
    signal: source.signal,
    now: () => source.now(),
    pages: (range, size) => paced(source.pages(range, size)),
  };
}
