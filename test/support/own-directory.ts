import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach } from 'vitest';

// Each test works in an empty directory that is removed after it, and never in the project: what somebody left there, such
// as the results.csv of README's first command, changes no test, and no test leaves a file there.
const ofFile = begin();
let ofTest = ofFile;

beforeEach(() => {
  ofTest = begin();
});
afterEach(() => end(ofTest, ofFile));
afterAll(() => end(ofFile, tmpdir()));

function begin(): string {
  const directory = mkdtempSync(join(tmpdir(), 'svc-test-'));
  process.chdir(directory);
  return directory;
}

function end(directory: string, next: string): void {
  process.chdir(next);
  rmSync(directory, { recursive: true, force: true });
}
