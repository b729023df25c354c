import { describe, expect, it } from 'vitest';
import { Messages, type NoticeLevel } from '../../src/output/messages.ts';
import { Output } from '../../src/output/output.ts';
import { LiveLine, Progress } from '../../src/output/progress.ts';
import { ManualClock, outputOver, Sink } from './streams.ts';

interface Set {
  readonly clock: ManualClock;
  readonly sink: Sink;
  readonly progress: Progress;
  readonly ended: AbortController;
}

function set(columns?: number, level: NoticeLevel = 'normal', unicode = true): Set {
  const clock = new ManualClock();
  const sink = new Sink(columns);
  const out = outputOver(sink);
  const ended = new AbortController();
  const live = columns === undefined ? undefined : new LiveLine(out);
  const notices = new Messages(out, level);
  const progress = new Progress({ clock, notices, live, unicode, signal: ended.signal });
  return { clock, sink, progress, ended };
}

function redact(text: string): string {
  return text.replaceAll('key_secret_1234567890', '(hidden)');
}

/** What the live line showed last. */
function lastLine({ sink }: Set): string {
  return sink.text.split('\r\u001b[K').at(-1) ?? '';
}

describe('progress elsewhere', () => {
  it('of a transfer is a line at the start, at most each quarter or 10 s, and at the end', async () => {
    const { clock, sink, progress } = set();
    const transfer = progress.bytes('upload part 1', 1_000_000);
    for (let done = 0; done <= 1_000_000; done += 1000) {
      transfer.update(done);
      await clock.advance(100);
    }
    transfer.done();
    transfer.done();
    const lines = sink.text.trimEnd().split('\n');
    expect(lines[0]).toBe('upload part 1: started, 1.0 MB');
    expect(lines[1]).toBe('upload part 1: 10%, 100.0 kB of 1.0 MB, 10.0 kB/s, 1m 30s left');
    expect(lines.at(-1)).toBe('upload part 1: 1.0 MB in 1m 40s');
    expect(lines.length).toBeLessThanOrEqual(12);
  });

  it('of a quick transfer is two lines', async () => {
    const { clock, sink, progress } = set();
    const transfer = progress.bytes('get', 100);
    for (let done = 0; done <= 100; done += 1) transfer.update(done);
    await clock.advance(50);
    transfer.done();
    expect(sink.text).toBe('get: started, 100 B\nget: 100 B in 0s\n');
  });

  it('of a resumed transfer counts the rate from where it went on', async () => {
    const { clock, sink, progress } = set();
    const transfer = progress.bytes('get', 10_000_000, 8_000_000);
    await clock.advance(10_000);
    transfer.update(9_000_000);
    expect(sink.text).toContain('90%, 9.0 MB of 10.0 MB, 100.0 kB/s, 10s left');
    transfer.fail();
    expect(sink.text).toContain('get: stopped at 9.0 MB of 10.0 MB\n');
  });

  it('of a wait is a line when the state changes or each five minutes', async () => {
    const { clock, sink, progress } = set();
    const wait = progress.waiting('job 42');
    for (let minute = 0; minute < 12; minute += 1) {
      wait.update({ state: minute < 10 ? 'pending' : 'processing', nextLookAt: clock.now() + 60_000 });
      await clock.advance(60_000);
    }
    wait.done('completed');
    expect(sink.text).toBe(
      [
        'job 42: pending, next look in 1m',
        'job 42: pending, for 5m, next look in 1m',
        'job 42: processing, for 10m, next look in 1m',
        'job 42: completed',
        '',
      ].join('\n'),
    );
  });

  it('is silent with --quiet', async () => {
    for (const columns of [undefined, 80]) {
      const { clock, sink, progress } = set(columns, 'quiet');
      progress.bytes('get', 10).done();
      progress.waiting('job').update({ state: 'pending' });
      await clock.advance(500);
      expect(sink.text).toBe('');
    }
  });
});

function aboutTwoHours(): string {
  return 'about 2h left';
}

describe('progress on a terminal', () => {
  it('of a transfer is a bar with bytes, rate and time left', async () => {
    const all = set(100);
    const transfer = all.progress.bytes('upload', 30_000_000);
    transfer.update(15_000_000);
    await all.clock.advance(10_000);
    expect(lastLine(all)).toBe('upload ██████████░░░░░░░░░░ 50%, 15.0 MB of 30.0 MB, 1.5 MB/s, 10s left');
    transfer.done();
    expect(all.sink.text.endsWith('\r\u001b[K\u001b[?25hupload: 15.0 MB in 10s\n')).toBe(true);
  });

  it('of a transfer shortens the bar, then leaves it out, before the numbers suffer', async () => {
    const lines: string[] = [];
    for (const columns of [68, 60]) {
      const all = set(columns);
      all.progress.bytes('upload', 30_000_000).update(15_000_000);
      await all.clock.advance(10_000);
      lines.push(lastLine(all));
    }
    const numbers = '50%, 15.0 MB of 30.0 MB, 1.5 MB/s, 10s left';
    expect(lines).toEqual([`upload ████████░░░░░░░░ ${numbers}`, `upload ████░░░░ ${numbers}`]);
  });

  it('never takes the whole width, however wide the label is', async () => {
    for (const label of ['x'.repeat(200), '日本'.repeat(100), '👍'.repeat(50)]) {
      const all = set(40);
      all.progress.waiting(label);
      await all.clock.advance(100);
      const line = lastLine(all);
      expect(
        Array.from(line).reduce((sum, character) => sum + (character < '\u3000' ? 1 : 2), 0),
      ).toBeLessThan(40);
      expect(line.length).toBeGreaterThan(15);
    }
  });

  it('of a wait leaves out the bar, the age and the next look before the time left, as the width asks', async () => {
    const lines: string[] = [];
    for (const columns of [100, 69, 58, 44, 40, 32]) {
      const all = set(columns);
      const parts = { done: 2, atWork: 1, waiting: 1, failed: 0 };
      const begun = all.clock.now() - 3_600_000;
      const nextLookAt = all.clock.now() + 60_000;
      all.progress
        .waiting('run-1')
        .update({ state: '2 of 4 jobs done', begun, nextLookAt, left: aboutTwoHours, parts });
      await all.clock.advance(100);
      lines.push(lastLine(all).slice(2));
    }
    expect(lines).toEqual([
      'run-1: ██▒░ 2 of 4 jobs done, for 1h, about 2h left, next look in 1m',
      'run-1: 2 of 4 jobs done, for 1h, about 2h left, next look in 1m',
      'run-1: 2 of 4 jobs done, about 2h left, next look in 1m',
      'run-1: 2 of 4 jobs done, about 2h left',
      'run-1: 2 of 4 jobs done, for 1h',
      'run-1: 2 of 4 jobs done',
    ]);
  });

  it('of several things shows the first and how many more', async () => {
    const all = set(100, 'normal', false);
    const first = all.progress.waiting('job 1');
    const second = all.progress.waiting('job 2');
    first.update({ state: 'pending' });
    await all.clock.advance(100);
    expect(lastLine(all)).toMatch(/^[|/\\-] job 1: pending \(and 1 more\)$/);
    first.done();
    await all.clock.advance(100);
    expect(lastLine(all)).toMatch(/job 2$/);
    second.done();
    const { length } = all.sink.text;
    await all.clock.advance(1000);
    expect(all.sink.text.length).toBe(length);
    expect(all.sink.text.endsWith('\u001b[?25h')).toBe(true);
  });

  it('R53 gives the cursor back at once when the command is asked to end, and paints no more', async () => {
    const all = set(80);
    all.progress.waiting('job');
    await all.clock.advance(100);
    all.ended.abort(new Error('interrupted'));
    expect(all.sink.text.endsWith('\u001b[?25h')).toBe(true);
    const { length } = all.sink.text;
    all.progress.waiting('another');
    await all.clock.advance(1000);
    expect(all.sink.text.length).toBe(length);
  });

  it('R06 shows no part of a secret that is cut at the edge', async () => {
    const sink = new Sink(20);
    const live = new LiveLine(new Output(sink, { name: 'standard error', redact }));
    live.show('waiting key_secret_1234567890');
    expect(sink.text).toContain('waiting (hidden)');
    expect(sink.text).not.toContain('key_');
  });

  it('R49 shows no escape of a label or a state', async () => {
    const all = set(80);
    all.progress.waiting('\u001b[2Jlabel').update({ state: '\u202estate' });
    await all.clock.advance(100);
    expect(lastLine(all).slice(1)).toBe(String.raw` \x1b[2Jlabel: \u202estate`);
  });
});
