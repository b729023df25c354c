import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type TopicName, topicPage, TOPICS } from '../../src/cli/app/topics.ts';
import { Home, LAUNCHER } from '../support/svc.ts';

const home = new Home();
const examples = (await Promise.all(Object.keys(TOPICS).map((name) => topicPage(name as TopicName)))).flatMap(
  ({ sections }) => sections.flatMap((section) => section.examples ?? []).map(([line]) => line),
);

beforeAll(() => {
  const svc = home.file('svc');
  writeFileSync(svc, `#!/bin/sh\nexec '${process.execPath}' '${LAUNCHER}' "$@"\n`);
  chmodSync(svc, 0o755);
});

/** Examples that need an account or a file of the reader, or that run until they are stopped. */
const NEEDS_MORE = /^svc (login|logout|profile show|au |events (listen|replay)|sandbox start)/;

describe('the examples of help topics', () => {
  it.each(examples.filter((line) => !NEEDS_MORE.test(line)))('`%s` works as typed', (line) => {
    const { status, stderr } = spawnSync('bash', ['-eu', '-o', 'pipefail', '-c', line], {
      cwd: home.path,
      encoding: 'utf8',
      env: home.environment({ PATH: [home.path, dirname(process.execPath), process.env['PATH']].join(delimiter) }),
    });
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('the examples of help topics are most of them tried here', () => {
    const tried = examples.filter((line) => !NEEDS_MORE.test(line));
    expect(tried.length).toBeGreaterThan(examples.length / 2);
  });
});
