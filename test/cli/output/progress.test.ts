import { clearLine, cursorTo, moveCursor } from 'node:readline';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { Messages, type NoticeLevel } from '../../../src/cli/output/messages.ts';
import { Output } from '../../../src/cli/output/output.ts';
import { Progress } from '../../../src/cli/output/progress.ts';
import { isRepaintable } from '../../../src/cli/output/terminal.ts';
import { FakeClock } from '../../support/clock.ts';
import { Sink } from './streams.ts';

/** A sink with a movable cursor, like a terminal. */
class Screen extends Sink {
  #cleared = 0;

  clearLine(direction: -1 | 0 | 1): boolean {
    this.#cleared += 1;
    // Without this limit, a line of infinite height would keep the test from ending.
    if (this.#cleared > 1000) throw new Error('cleared more than 1000 lines');
    return clearLine(this, direction);
  }

  cursorTo(column: number): boolean {
    return cursorTo(this, column);
  }

  moveCursor(columns: number, rows: number): boolean {
    return moveCursor(this, columns, rows);
  }
}

interface Set {
  readonly clock: FakeClock;
  readonly sink: Sink;
  readonly progress: Progress;
  readonly notices: Messages;
  readonly ended: AbortController;
}

const begun: Progress[] = [];

afterEach(() => {
  for (const progress of begun.splice(0)) progress.end();
});

function set(columns?: number, level: NoticeLevel = 'normal', unicode = true): Set {
  const clock = new FakeClock({ start: 0, auto: false });
  const sink = columns === undefined ? new Sink() : new Screen(columns);
  const ended = new AbortController();
  const screen = isRepaintable(sink) ? { stream: sink, redact, unicode } : undefined;
  const notices = new Messages(new Output(sink, { name: 'standard error', redact }), level);
  const progress = new Progress({ clock, notices, screen, signal: ended.signal });
  begun.push(progress);
  return { clock, sink, progress, notices, ended };
}

function redact(text: string): string {
  return text.replaceAll('key_secret_1234567890', '(hidden)');
}

/** Returns the last content of the live line. */
function lastLine({ sink }: Set): string {
  const pieces = sink.text.split('\u001b').map((piece) => piece.replace(/^(?:[78]|\[[?\d;]*[A-Za-z])/, ''));
  return pieces.findLast((piece) => piece !== '') ?? '';
}

/** Waits until the live line matches, and returns it. */
async function shown(all: Set, pattern = /./): Promise<string> {
  await all.clock.advance(1000);
  while (!pattern.test(lastLine(all))) {
    await nextTurn();
    await all.clock.advance(0);
  }
  return lastLine(all);
}

describe('progress elsewhere', () => {
  it('progress without a terminal of a transfer is a line at the start, at most each quarter or 10 s, and at the end', async () => {
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

  it('progress without a terminal of a quick transfer is two lines', async () => {
    const { clock, sink, progress } = set();
    const transfer = progress.bytes('get', 100);
    for (let done = 0; done <= 100; done += 1) transfer.update(done);
    await clock.advance(50);
    transfer.done();
    expect(sink.text).toBe('get: started, 100 B\nget: 100 B in 0s\n');
  });

  it('progress without a terminal of a transfer that fails is a line at the start, for what was done, and for where it stopped', async () => {
    const { clock, sink, progress } = set();
    const transfer = progress.bytes('get', 10_000_000);
    await clock.advance(10_000);
    transfer.update(9_000_000);
    expect(sink.text).toContain('90%, 9.0 MB of 10.0 MB, 900.0 kB/s, 1s left');
    transfer.fail();
    expect(sink.text).toContain('get: stopped at 9.0 MB of 10.0 MB\n');
  });

  it('progress without a terminal of a wait is a line when the state changes or each five minutes', async () => {
    const { clock, sink, progress } = set();
    const wait = progress.waiting('job 42');
    for (let minute = 0; minute < 12; minute += 1) {
      wait.update({ state: minute < 10 ? 'pending' : 'processing', nextPollAt: clock.now() + 60_000 });
      await clock.advance(60_000);
    }
    wait.done('completed');
    expect(sink.text).toBe(
      [
        'job 42: pending, next poll in 1m',
        'job 42: pending, for 5m, next poll in 1m',
        'job 42: processing, for 10m, next poll in 1m',
        'job 42: completed',
        '',
      ].join('\n'),
    );
  });

  it('progress without a terminal of a count that only grows is a line each 10 s', async () => {
    const { clock, sink, progress } = set();
    const wait = progress.waiting('logs');
    for (let second = 1; second <= 25; second += 1) {
      wait.update({ state: `${second * 1_100} entries read` });
      await clock.advance(1_000);
    }
    wait.update({ state: 'sorting' });
    expect(sink.text.trimEnd().split('\n')).toEqual([
      'logs: 1100 entries read',
      'logs: 12100 entries read, for 10s',
      'logs: 23100 entries read, for 20s',
      'logs: sorting, for 25s',
    ]);
  });

  it('progress without a terminal is silent with --quiet', async () => {
    for (const columns of [undefined, 80]) {
      const { clock, sink, progress } = set(columns, 'quiet');
      progress.bytes('get', 10).done();
      progress.waiting('job').update({ state: 'pending' });
      await clock.advance(500);
      expect(sink.text).toBe('');
    }
  });
});

describe('progress on a terminal', () => {
  it('progress on a terminal shows nothing of a transfer that is over within a second', async () => {
    const all = set(100);
    const transfer = all.progress.bytes('upload', 30_000_000);
    await all.clock.advance(999);
    transfer.update(30_000_000);
    transfer.done();
    await all.clock.advance(5000);
    expect(all.sink.text).toBe('');
  });

  it('progress on a terminal of a transfer is a bar with bytes, rate and time left', async () => {
    const all = set(100);
    const transfer = all.progress.bytes('upload', 30_000_000);
    transfer.update(15_000_000);
    expect((await shown(all)).slice(2)).toBe('upload ██████████░░░░░░░░░░ 50%, 15.0 MB of 30.0 MB, 15.0 MB/s, 1s left');
    transfer.done();
    expect(all.sink.text.endsWith('upload: 15.0 MB in 1s\n')).toBe(true);
    expect(all.sink.text).toContain('\u001b[?25h');
  });

  it('progress on a terminal of a transfer shortens the bar, then leaves it out, before the numbers suffer', async () => {
    const lines: string[] = [];
    for (const columns of [70, 62, 54]) {
      const all = set(columns);
      all.progress.bytes('upload', 30_000_000).update(15_000_000);
      lines.push((await shown(all)).slice(2));
    }
    const numbers = '50%, 15.0 MB of 30.0 MB, 15.0 MB/s, 1s left';
    expect(lines).toEqual([`upload ████████░░░░░░░░ ${numbers}`, `upload ████░░░░ ${numbers}`, `upload ${numbers}`]);
  });

  it('progress on a terminal never takes the whole width, however wide the label is', async () => {
    for (const label of ['x'.repeat(200), '日本'.repeat(100), '👍'.repeat(50)]) {
      const all = set(40);
      all.progress.waiting(label);
      const line = await shown(all);
      expect(Array.from(line).reduce((sum, character) => sum + (character < '\u3000' ? 1 : 2), 0)).toBeLessThan(40);
      expect(line.length).toBeGreaterThan(15);
    }
  });

  it('progress on a terminal that does not know its size is lines', async () => {
    const all = set(0);
    const wait = all.progress.waiting('job 42');
    wait.update({ state: 'pending' });
    await all.clock.advance(2000);
    wait.done('completed');
    expect(all.sink.text).toBe('job 42: pending\njob 42: completed\n');
  });

  it('progress on a terminal that loses its size disappears, and comes back with it', async () => {
    const all = set(80);
    all.progress.waiting('job 42');
    await shown(all);
    all.sink.columns = 0;
    all.sink.emit('resize');
    const { length } = all.sink.text;
    await all.clock.advance(1000);
    expect(all.sink.text.length).toBe(length);
    all.sink.columns = 60;
    expect(await shown(all, /job 42: for [23]s/)).toContain('job 42');
  });

  it('progress on a terminal makes room for notices, and pauses while a question is open', async () => {
    const all = set(80);
    all.progress.waiting('job 42');
    await shown(all);
    all.notices.note('a note');
    expect(all.sink.text).toContain('\u001b[1G\u001b[0Ka note\n');
    expect(all.sink.text.slice(all.sink.text.indexOf('a note'))).toContain('job 42');
    all.progress.pause();
    const { length } = all.sink.text;
    await all.clock.advance(1000);
    expect(all.sink.text.length).toBe(length);
    all.progress.resume();
    await shown(all, /job 42: for [23]s/);
  });

  it('progress on a terminal of a wait leaves out the usual time, the next poll and the age, as the width asks', async () => {
    const lines: string[] = [];
    for (const columns of [76, 52, 40, 32]) {
      const all = set(columns);
      const begunAt = all.clock.now() - 3_600_000;
      const nextPollAt = all.clock.now() + 61_000;
      all.progress
        .waiting('run-1')
        .update({ state: '2 of 4 jobs done', begun: begunAt, nextPollAt, typical: 'typically about a day' });
      lines.push((await shown(all)).slice(2));
    }
    expect(lines).toEqual([
      'run-1: 2 of 4 jobs done, for 1h, next poll in 1m, typically about a day',
      'run-1: 2 of 4 jobs done, for 1h, next poll in 1m',
      'run-1: 2 of 4 jobs done, for 1h',
      'run-1: 2 of 4 jobs done',
    ]);
  });

  it('progress on a terminal of several things shows the first and how many more', async () => {
    const all = set(100, 'normal', false);
    const first = all.progress.waiting('job 1');
    const second = all.progress.waiting('job 2');
    first.update({ state: 'pending' });
    expect(await shown(all)).toMatch(/^[|/\\-] job 1: pending, for 1s \(and 1 more\)$/);
    first.done();
    expect(await shown(all, /job 2/)).toMatch(/job 2: for 2s$/);
    second.done();
    const { length } = all.sink.text;
    await all.clock.advance(1000);
    expect(all.sink.text.length).toBe(length);
    expect(all.sink.text.endsWith('\u001b[?25h')).toBe(true);
  });

  it('R53: progress on a terminal gives the cursor back at once when the command is asked to end, and paints no more', async () => {
    const all = set(80);
    all.progress.waiting('job');
    await shown(all);
    all.ended.abort(new Error('interrupted'));
    expect(all.sink.text.endsWith('\u001b[?25h')).toBe(true);
    const { length } = all.sink.text;
    all.progress.waiting('another');
    await all.clock.advance(1000);
    expect(all.sink.text.length).toBe(length);
  });

  it('R06: progress on a terminal shows no part of a secret that is cut at the edge', async () => {
    const all = set(20);
    all.progress.waiting('waiting key_secret_1234567890');
    expect(await shown(all)).toContain('waiting (hidden)');
    expect(all.sink.text).not.toContain('key_');
  });

  it('R49: progress on a terminal shows no escape of a label or a state', async () => {
    const all = set(80);
    all.progress.waiting('\u001b[2Jlabel').update({ state: '\u202estate' });
    expect((await shown(all)).slice(1)).toBe(String.raw` \x1b[2Jlabel: \u202estate, for 1s`);
  });
});
