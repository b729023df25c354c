import { expect, it, vi } from 'vitest';
import { delivery, post, until } from '../../events/support.ts';
import { FakeClock } from '../../support/clock.ts';
import { finished } from '../../support/svc.ts';
import { openDesk } from './support.ts';

// Each test starts several processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const HOUR = 3_600_000;

it.each(['run', 'job'])(
  'svc au wait --events polls as soon as an event says that the job of a %s has ended',
  async (of) => {
    const clock = new FakeClock({ start: Date.now(), auto: false });
    const desk = await openDesk({ clock, processingMs: HOUR });
    await desk.svc('au submit tokens.csv');
    const [run = ''] = desk.runIds();
    const job = desk.record(run).parts[0]?.job ?? '';
    const child = desk.start(`au wait ${of === 'run' ? run : job} --events 0`);
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const ended = finished(child);
    await until(() => said.includes('next poll in'), 15_000);
    await clock.advance(2 * HOUR);
    const [, url = ''] = /listening for events on (\S+)/.exec(said) ?? [];
    await post(url, delivery('other', { data: { job: { id: 'not-ours', status: 'completed' } } }));
    expect(said).not.toContain('an event says');
    await post(url, delivery('ours', { data: { job: { id: job, status: 'completed' } } }));
    const { code, stdout, stderr } = await ended;
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('an event says that a job has ended');
    expect(JSON.parse(stdout)).toMatchObject({ status: 'completed' });
  },
);
