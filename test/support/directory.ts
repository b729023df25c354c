import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, TestRunner } from 'vitest';

/** Makes an empty directory, which is removed after the test that asks for it, or with the directory of its file. */
export function temporaryDirectory(): string {
  if (TestRunner.getCurrentTest() === undefined) return mkdtempSync(join(process.cwd(), 'directory-'));
  const directory = mkdtempSync(join(tmpdir(), 'svc-of-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
