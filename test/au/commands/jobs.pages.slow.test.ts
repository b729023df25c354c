import { expect, it } from 'vitest';
import { ended, succeeded } from '../../support/run-here.ts';
import { emptyPages } from '../../support/empty-pages.ts';
import { openQuickDesk, type QuickDesk } from './support.ts';

async function deskWithJobs(count: number, empty = 0): Promise<QuickDesk> {
  const desk = await openQuickDesk({ intercept: emptyPages(empty) });
  for (let job = 0; job < count; job += 1) expect(await desk.svc('au create')).toMatchObject({ code: 0 });
  return desk;
}

/** Returns the words of the command that stderr names. */
function commandIn(stderr: string): string[] {
  const words = /^.*?\bsvc (.*)$/m.exec(stderr)?.[1]?.match(/'[^']*'|\S+/g) ?? [];
  return words.map((word) => word.replaceAll("'", ''));
}

it('R26: svc au jobs reads on after empty pages, and prints the newest jobs that exist', async () => {
  const desk = await deskWithJobs(2, 3);
  for (const line of ['au jobs', 'au jobs -n 2', 'au jobs --status pending', 'au jobs --all', 'au jobs --since 1d']) {
    const { stdout } = ended(await desk.svc(`${line} -o jsonl`), 0, { stderr: '' });
    expect(stdout.trimEnd().split('\n')).toHaveLength(2);
  }
});

it('R26: svc au jobs gives up after 1,000 empty pages in a row, and prints the command that goes on', async () => {
  const desk = await deskWithJobs(1, 1_200);
  const { stderr } = ended(await desk.svc('au jobs --page-size 5 -o jsonl'), 12, { stdout: '' });
  const { message, next } = JSON.parse(stderr) as { message: string; next: string };
  expect(message).toMatch(/1,000 empty pages in a row.*; read before them: 0 jobs/);
  ended(await desk.svc([...commandIn(next), '-o', 'jsonl']), 0, { stdout: expect.stringContaining('"status"') });
});

it('R26: svc au jobs prints the whole command for the next page, which shows each other job once', async () => {
  const desk = await deskWithJobs(5);
  const ids: string[] = [];
  let words = ['au', 'jobs', '--page-size', '2', '-o', 'jsonl'];
  for (let page = 0; page < 3; page += 1) {
    const { stdout, stderr } = succeeded(await desk.svc(words));
    for (const line of stdout.trimEnd().split('\n')) ids.push((JSON.parse(line) as { id: string }).id);
    words = commandIn(stderr);
  }
  expect(new Set(ids).size).toBe(5);
  expect(ids).toHaveLength(5);
});

it('svc au jobs with a filter prints the newest 100 of its jobs, and with --all every one', async () => {
  const desk = await deskWithJobs(101);
  const counts = { 'au jobs --status pending': 100, 'au jobs --status pending --all': 101 };
  for (const [line, count] of Object.entries(counts)) {
    const { code, stdout } = await desk.svc(`${line} -o jsonl`);
    expect({ line, code, count: stdout.trimEnd().split('\n').length }).toEqual({ line, code: 0, count });
  }
});

it('R26: svc au submit uploads nothing where the list has an empty page before its end, which proves nothing', async () => {
  const desk = await openQuickDesk({ intercept: emptyPages(2) });
  ended(await desk.svc('au submit tokens.csv --only-recorded'), 9, 'the list of jobs', { uploads: 0 });
});
