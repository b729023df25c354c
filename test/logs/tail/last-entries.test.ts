import { expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { type TailEvent } from '../../../src/logs/tail/follow.ts';
import { lastEntries, type LastOptions } from '../../../src/logs/tail/last-entries.ts';
import type { LogSource } from '../../../src/logs/read-range.ts';
import type { Log } from '../../../src/schema/log.ts';
import { CALM as CALM_DAY, type Happening, logOf, type Manner, ModelClock, ModelService } from '../model.ts';

const START = Date.UTC(2026, 0, 5, 12);
const SECOND = 1000;
const HOUR = 3_600_000;
const OVERLAP = 60 * SECOND;
const OPTIONS: LastOptions = { count: 10, mostRead: 20_000, overlapMs: OVERLAP, retentionMs: 48 * HOUR };
const CALM: Manner = { ...CALM_DAY, retentionMs: 48 * HOUR };

function serviceOf(happenings: readonly Happening[], manner: Partial<Manner> = {}, random = (): number => 0.5) {
  return new ModelService(new ModelClock(START), happenings, { ...CALM, ...manner }, random);
}

function ago(ms: number, words: string): Happening {
  return { at: START - ms, seenAt: START - ms, words };
}

it('the last entries of a busy, a quiet and an empty log are found with few requests', async () => {
  const busy = serviceOf(Array.from({ length: 60_000 }, (_, index) => ago(index * 3, `entry ${index}`)));
  expect((await lastEntries(busy, OPTIONS)).logs).toHaveLength(10);
  expect(busy.requests).toBeLessThan(15);
  const quiet = serviceOf(Array.from({ length: 20 }, (_, index) => ago(index * HOUR, `entry ${index}`)));
  expect((await lastEntries(quiet, OPTIONS)).logs).toHaveLength(10);
  expect(quiet.requests).toBeLessThan(15);
  const empty = serviceOf([]);
  expect(await lastEntries(empty, OPTIONS)).toMatchObject({ logs: [], readFrom: 0, position: { passed: [] } });
  expect(empty.requests).toBeLessThan(15);
});

it('R30: the search for the last entries waits for the end of a reported outage, and fails with an unreported one', async () => {
  const outages = [{ from: START, to: START + 20 * SECOND }];
  const events: TailEvent[] = [];
  const onEvent = (event: TailEvent): void => void events.push(event);
  const waited = await lastEntries(serviceOf([ago(SECOND, 'one')], { outages }), { ...OPTIONS, onEvent });
  expect(waited.logs).toHaveLength(1);
  expect(events.map(({ kind }) => kind)).toEqual(['disconnected', 'caught up']);
  await expect(lastEntries(serviceOf([], { outages }), OPTIONS)).rejects.toThrow('no answer');
  const refused = { ...OPTIONS, onEvent };
  const service = serviceOf([]);
  service.pages = () => {
    throw new SvcError('unauthorized', 'refused');
  };
  await expect(lastEntries(service, refused)).rejects.toThrow('refused');
});

it.each([-26, 26])(
  'R25: the last entries reach up to the present of a service whose clock is %i hours off',
  async (hours) => {
    const clock = new ModelClock(START + hours * HOUR);
    const logs = [ago(26 * HOUR, 'two'), ago(SECOND, 'one')].map(logOf);
    let offset = 0;
    const source: LogSource = {
      clock,
      signal: new AbortController().signal,
      now: () => clock.now() + offset,
      async *pages({ from, to }) {
        offset = -hours * HOUR;
        const isIn = ({ created_at }: Log): boolean => Date.parse(created_at) >= from && Date.parse(created_at) < to;
        yield { items: logs.filter(isIn), next: undefined };
      },
    };
    const last = await lastEntries(source, { ...OPTIONS, count: 2 });
    expect(last.logs.map(({ message }) => message)).toEqual(['two', 'one']);
    expect(Math.abs(last.position.readTo - START)).toBeLessThan(60 * SECOND);
  },
);

it.each([-56 * 365 * 24, -1, 4 * 365 * 24])(
  'R25: the last entries are those of the present when the first Date header is %i hours off',
  async (hours) => {
    const source = withOffsets(serviceOf([ago(30 * SECOND, 'two'), ago(20 * SECOND, 'one')]), [hours * HOUR, 0]);
    const last = await lastEntries(source, { ...OPTIONS, count: 2 });
    expect(last.logs.map(({ message }) => message)).toEqual(['two', 'one']);
    expect(Math.abs(last.position.readTo - START)).toBeLessThan(60 * SECOND);
  },
);

it('R25: the last entries are those of the present when this machine is hours behind, in a busy time of the log', async () => {
  const busy = Array.from({ length: 200 }, (_, index) => ago(3 * HOUR + 5 * SECOND, `entry ${index}`));
  const service = serviceOf([...busy, ago(SECOND, 'one')]);
  const source = withOffsets(service, [0], -3 * HOUR);
  const last = await lastEntries(source, { ...OPTIONS, count: 1 });
  expect(last.logs.map(({ message }) => message)).toEqual(['one']);
});

it('reading backwards goes on when each response shows another time', async () => {
  const offsets = Array.from({ length: 100 }, (_, index) => ((index + 1) % 2) * HOUR);
  const last = await lastEntries(withOffsets(serviceOf([ago(20 * SECOND, 'one')]), offsets), { ...OPTIONS, count: 1 });
  expect(last.logs).toHaveLength(1);
  expect(last.requests).toBeLessThan(20);
});

it('R70: reading backwards fails while the Date header is before the time to read from', async () => {
  const source = withOffsets(serviceOf([ago(SECOND, 'one')]), [-56 * 365 * 24 * HOUR]);
  const reading = lastEntries(source, { ...OPTIONS, since: START - HOUR });
  await expect(reading).rejects.toMatchObject({
    code: 'bad_response',
    message: expect.stringMatching(/^the service's clock shows 1970-.*, before the time to read from, 2026-/),
  });
});

/** Returns a source whose nth response has a `Date` header that is wrong by the nth offset, or by the last one. */
function withOffsets(service: ModelService, offsets: readonly number[], machineMs = 0): LogSource {
  let responses = 0;
  let offset = 0;
  const clock = { now: () => service.now() + machineMs, sleep: (ms: number) => service.clock.sleep(ms) };
  return {
    clock,
    signal: service.signal,
    now: () => clock.now() + offset,
    async *pages(...request) {
      for await (const page of service.pages(...request)) {
        offset = (offsets[responses] ?? offsets.at(-1) ?? 0) - machineMs;
        responses += 1;
        yield page;
      }
    },
  };
}
