import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isSvcError } from '../../../src/base/errors.ts';
import { Output, ReaderGone } from '../../../src/cli/output/output.ts';
import { type Bundle, bundleProgram } from '../../support/terminal.ts';
import { brokenStream, outputOver, Sink } from './streams.ts';

let list: Bundle;

beforeAll(async () => {
  list = await bundleProgram(fileURLToPath(new URL('programs/list.ts', import.meta.url)));
});

afterAll(() => {
  list.remove();
});

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('an output', () => {
  it('R06: an output redacts every text before it leaves', async () => {
    const sink = new Sink();
    const out = new Output(sink, { name: 'standard output', redact: (text) => text.replaceAll('s3cret', '***') });
    await out.write('key s3cret\n');
    expect(sink.text).toBe('key ***\n');
  });

  it('an output waits until the stream took the text', async () => {
    const taken: (() => void)[] = [];
    const sink = new Sink();
    sink._write = (_chunk, _encoding, done) => void taken.push(done);
    let written = false;
    const writing = outputOver(sink)
      .write('text')
      .then(() => (written = true));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect(written).toBe(false);
    taken[0]?.();
    await writing;
    expect(written).toBe(true);
  });

  it('R51: an output tells a reader that went away from a failure', async () => {
    const gone = outputOver(brokenStream('EPIPE'));
    expect(await failure(gone.write('x'))).toBeInstanceOf(ReaderGone);
    expect(gone.readerGone.reason).toBeInstanceOf(ReaderGone);
    expect(await failure(gone.write('x'))).toBeInstanceOf(ReaderGone);

    const full = outputOver(brokenStream('ENOSPC'));
    const error = await failure(full.write('x'));
    expect(isSvcError(error, 'output')).toBe(true);
    expect(String(error)).toContain('standard output could not be written (ENOSPC)');
    expect(full.readerGone.aborted).toBe(false);
  });

  it('R51: an output that goes on without its reader drops what is written, and still reports other failures', async () => {
    const gone = outputOver(brokenStream('EPIPE'));
    gone.continueWithoutReader();
    await gone.write('x');
    await gone.write('y');
    expect(gone.readerGone.aborted).toBe(false);
    const full = outputOver(brokenStream('ENOSPC'));
    full.continueWithoutReader();
    expect(isSvcError(await failure(full.write('x')), 'output')).toBe(true);
  });

  it('an output does not crash on an error between two writes, and reports it at the next', async () => {
    const sink = new Sink();
    const out = outputOver(sink);
    sink.emit('error', Object.assign(new Error('gone'), { code: 'EPIPE' }));
    expect(out.readerGone.aborted).toBe(true);
    expect(await failure(out.write('x'))).toBeInstanceOf(ReaderGone);
  });

  it('an output reads the width anew each time, and takes 80 where there is none', () => {
    const sink = new Sink(100);
    const out = outputOver(sink);
    expect([out.isTerminal, out.width]).toEqual([true, 100]);
    sink.columns = 60;
    expect(out.width).toBe(60);
    sink.columns = 0;
    expect(out.width).toBe(80);
    expect(outputOver(new Sink()).isTerminal).toBe(false);
  });
});
