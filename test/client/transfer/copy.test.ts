import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { copyInto } from '../../../src/client/transfer/copy.ts';
import { content, failure, instantClock, sha256 } from './support.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const CONTENT = content(1_000_000);

let source: string;
let pipe: string;

beforeEach(() => {
  source = path.join(temporaryDirectory(), 'results.csv');
  pipe = `${source}.pipe`;
  fs.writeFileSync(source, CONTENT);
  execFileSync('mkfifo', [pipe]);
});

function copyTo(kind: 'pipe' | 'device', target: string, signal = new AbortController().signal): Promise<void> {
  return copyInto({ kind, path: target }, source, { clock: instantClock(), signal });
}

describe('a copy of a finished file', () => {
  it('R44: a copy of a finished file goes into a pipe once somebody reads from it', async () => {
    const copied = copyTo('pipe', pipe);
    const reader = spawn('sha256sum', [pipe], { stdio: ['ignore', 'pipe', 'inherit'] });
    const said = reader.stdout.setEncoding('utf8').toArray();
    await copied;
    expect((await said).join('').slice(0, 64)).toBe(sha256(CONTENT));
    expect(fs.statSync(pipe).isFIFO()).toBe(true);
  });

  it('R19: a copy of a finished file can be interrupted while nobody reads from the pipe', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('stop')), 50);
    await expect(copyTo('pipe', pipe, controller.signal)).rejects.toThrow('stop');
  });

  it('R51: a copy of a finished file fails when the reader of the pipe leaves', async () => {
    const reader = spawn('head', ['-c', '10', pipe], { stdio: 'ignore' });
    expect(await failure(copyTo('pipe', pipe))).toMatchObject({ code: 'local' });
    expect(reader.pid).toBeDefined();
  });

  it('R44: a copy of a finished file goes into a device', async () => {
    await copyTo('device', '/dev/null');
    expect(fs.statSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  it.runIf(fs.existsSync('/dev/full'))('R51 fails when the device is full', async () => {
    const error = await failure(copyTo('device', '/dev/full'));
    expect(error.exitCode).toBe(1);
    expect(error.message).toContain('ENOSPC');
  });
});
