import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const directory = fileURLToPath(new URL('../../findings/', import.meta.url));
const names = existsSync(directory) ? readdirSync(directory) : [];

it('each finding says what it is about, and can be run', () => {
  const wrong = names.filter((name) => {
    const head = readFileSync(join(directory, name), 'utf8').split('\n').slice(0, 12).join('\n');
    const parts = [/^#!\/usr\/bin\/env bash\n/, /^# Package: .+/m, /^# Behavior: .+/m, /^# Seen: .+/m];
    const isRunnable = (statSync(join(directory, name)).mode & 0o111) !== 0;
    return !name.endsWith('.sh') || !isRunnable || !parts.every((part) => part.test(head));
  });
  expect(wrong).toEqual([]);
});
