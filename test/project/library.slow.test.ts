import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunningSandbox } from '../../src/emulator/running-sandbox.ts';
import { exampleRequestFile } from '../../src/emulator/vault/cards.ts';
import { readBlocks } from '../support/readme-blocks.ts';
import { finished } from '../support/svc.ts';
import { startSandbox } from '../support/sandbox.ts';
import { temporaryDirectory } from '../support/directory.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const examples = readBlocks(readFileSync(join(project, 'docs/library.md'), 'utf8')).filter(
  ({ language }) => language === 'js',
);
const directory = temporaryDirectory();
let sandbox: RunningSandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ directory: join(directory, 'sandbox'), processingMs: 500 });
  mkdirSync(join(directory, 'node_modules'));
  symlinkSync(project, join(directory, 'node_modules/svc-cli'));
  writeFileSync(join(directory, 'tokens.csv'), exampleRequestFile());
});

afterAll(() => sandbox.close());

it('the library has four examples in docs/library.md', () => {
  expect(examples).toHaveLength(4);
});

it.each(examples)('the library runs the example at line $line of docs/library.md unchanged', async ({ line, text }) => {
  const file = join(directory, `example-${line}.mjs`);
  writeFileSync(file, text);
  const env = {
    PATH: process.env['PATH'] ?? '',
    SVC_BASE_URL: sandbox.url,
    SVC_MANAGEMENT_API_KEY: 'sandbox-management-key',
    SVC_PRIVATE_API_KEY: 'sandbox-private-key',
  };
  const child = spawn(process.execPath, [file], { cwd: directory, env, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end();
  const { code, stdout, stderr } = await finished(child);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const expectedOutputs = [
    /(card|Card).*\n.*\n/,
    /^\d+ bytes of results\n$/,
    /^(2.*Z \w+\n){5}followed up to 2/,
    /^\w+.*: \d+ active tokens\nsession for a \w+ card\n$/,
  ];
  expect(stdout).toMatch(expectedOutputs[examples.findIndex((example) => example.line === line)] ?? 'nothing');
});

it('the library writes results.csv with a result code for each token of the example', () => {
  expect(readFileSync(join(directory, 'results.csv'), 'utf8')).toMatch(/^token,.*result_code\n(.*\n){38}$/);
});
