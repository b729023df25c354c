import { describe, expect, it } from 'vitest';
import { type TopicName, topicPage, TOPICS } from '../../src/cli/app/topics.ts';
import { openShellHome } from '../support/shell-home.ts';

const home = openShellHome();
const examples = (await Promise.all(Object.keys(TOPICS).map((name) => topicPage(name as TopicName)))).flatMap(
  ({ sections }) => sections.flatMap((section) => section.examples ?? []).map(([line]) => line),
);

/** Examples that need an account or a file of the reader, or that run until they are stopped. */
const NEEDS_MORE = /^svc (login|logout|profile show|au |events (listen|replay)|sandbox start)/;

describe('the examples of help topics', () => {
  it.each(examples.filter((line) => !NEEDS_MORE.test(line)))('`%s` works as typed', async (line) => {
    const { status, stderr } = await home.run(line);
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('the examples of help topics are most of them tried here', () => {
    const tried = examples.filter((line) => !NEEDS_MORE.test(line));
    expect(tried.length).toBeGreaterThan(examples.length / 2);
  });
});
