import { describe, expect, it } from 'vitest';
import { Messages, type NoticeLevel } from '../../../src/cli/output/messages.ts';
import { brokenStream, outputOver, Sink } from './streams.ts';

async function said(level: NoticeLevel): Promise<string> {
  const sink = new Sink();
  const notices = new Messages(outputOver(sink), level);
  notices.note('a note');
  notices.warn('a warning');
  notices.debug('most');
  notices.report('error: it\n');
  await notices.flushed();
  return sink.text;
}

describe('notices', () => {
  it('notices say more from level to level, and what matters at each', async () => {
    expect(await said('quiet')).toBe('warning: a warning\nerror: it\n');
    expect(await said('normal')).toBe('a note\nwarning: a warning\nerror: it\n');
    expect(await said('debug')).toBe('a note\nwarning: a warning\nmost\nerror: it\n');
  });

  it('notices mark what succeeded or failed where a terminal shows it, and elsewhere say it in words alone', async () => {
    const texts: string[] = [];
    for (const [columns, unicode] of [
      [80, true],
      [80, false],
      [undefined, true],
    ] as const) {
      const sink = new Sink(columns);
      const notices = new Messages(outputOver(sink), 'normal', { unicode });
      notices.success('it is stored');
      notices.failure('1 failed');
      await notices.flushed();
      texts.push(sink.text);
    }
    const plain = 'it is stored\n1 failed\n';
    expect(texts).toEqual(['✓ it is stored\n✗ 1 failed\n', plain, plain]);
  });

  it('R49: notices are cleaned, and one line each: nothing in one can pass for another', async () => {
    const sink = new Sink();
    const notices = new Messages(outputOver(sink), 'normal');
    notices.note('two\nlines \u001b[31m\u202e');
    await notices.flushed();
    expect(sink.text).toBe('two\\nlines \\x1b[31m\\u202e\n');
  });

  it('notices do not mind a stderr that cannot be written', async () => {
    const notices = new Messages(outputOver(brokenStream('ENOSPC')), 'normal');
    notices.note('lost');
    notices.note('lost too');
    await expect(notices.flushed()).resolves.toBeUndefined();
  });
});

describe('a long notice', () => {
  it('a long notice breaks between words on a terminal, and never within a command that it quotes', async () => {
    const sink = new Sink(40);
    const notices = new Messages(outputOver(sink), 'normal');
    notices.note("  more follow than fit here: go on with 'svc logs list --start abc' some time, or not");
    notices.warn('one two three four five six seven eight nine');
    await notices.flushed();
    expect(sink.text.split('\n')).toEqual([
      '  more follow than fit here: go on with',
      "  'svc logs list --start abc' some time,",
      '  or not',
      'warning: one two three four five six',
      'seven eight nine',
      '',
    ]);
  });

  it('a long notice stays one line elsewhere', async () => {
    const sink = new Sink();
    const notices = new Messages(outputOver(sink), 'normal');
    notices.note('word '.repeat(40).trim());
    await notices.flushed();
    expect(sink.text.trimEnd().split('\n')).toHaveLength(1);
  });
});
