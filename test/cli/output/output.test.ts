import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isSvcError } from '../../../src/base/errors.ts';
import { Output, ReaderGone } from '../../../src/cli/output/output.ts';
import { type Bundle, bundleProgram } from '../../support/terminal.ts';
import { brokenStream, outputOver, Sink } from './streams.ts';

const temporary = mkdtempSync(join(tmpdir(), 'svc-output-'));
let list: Bundle;

beforeAll(async () => {
  list = await bundleProgram(fileURLToPath(new URL('programs/list.ts', import.meta.url)));
});

afterAll(() => {
  list.remove();
  rmSync(temporary, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | null;
  readonly err: string;
}

function ended(child: ChildProcess): Promise<Ended> {
  let err = '';
  child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()));
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, err }));
  });
}

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
    gone.goOnWithoutReader();
    await gone.write('x');
    await gone.write('y');
    expect(gone.readerGone.aborted).toBe(false);
    const full = outputOver(brokenStream('ENOSPC'));
    full.goOnWithoutReader();
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

describe('a real process', () => {
  it('R51: a real process fails when the output is full', async () => {
    const full = openSync('/dev/full', 'w');
    const { code, err } = await ended(spawn(process.execPath, [list.path, '100'], { stdio: ['ignore', full, 'pipe'] }));
    closeSync(full);
    expect(code).toBe(1);
    expect(err).toContain('error: standard output could not be written (ENOSPC)');
  });

  it('R51: a real process fails when only part of the last write fits, which Node itself does not notice', async () => {
    const path = join(temporary, 'short.txt');
    const command = `ulimit -f 4 && exec "${process.execPath}" "${list.path}" 100 > "${path}"`;
    const { code, err } = await ended(spawn('bash', ['-c', command], { stdio: ['ignore', 'ignore', 'pipe'] }));
    expect(statSync(path).size).toBe(4096);
    expect(err).toContain('could not be written (EFBIG)');
    expect(code).toBe(1);
  });

  it.runIf(process.platform === 'linux')(
    'a real process leaves no part of its last write in a file that it appends to, so that the next one begins a line',
    async () => {
      const path = join(temporary, 'appended.txt');
      writeFileSync(path, 'before\n');
      const command = `ulimit -f 20 && exec "${process.execPath}" "${list.path}" 1000 >> "${path}"`;
      const { code, err } = await ended(spawn('bash', ['-c', command], { stdio: ['ignore', 'ignore', 'pipe'] }));
      expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('could not be written (EFBIG)') });
      const [first, ...rows] = readFileSync(path, 'utf8').split('\n');
      expect({ first, last: rows.pop(), rows: rows.length }).toEqual({ first: 'before', last: '', rows: 100 });
      expect(JSON.parse(rows.at(-1) ?? '')).toMatchObject({ id: 'row-99' });
    },
  );

  it('R51: a real process ends quietly and stops reading when the reader goes away', async () => {
    const child = spawn(process.execPath, [list.path, '10000000'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.once('data', () => child.stdout.destroy());
    const { code, err } = await ended(child);
    expect(code).toBe(0);
    expect(err).toMatch(/^read \d{3,6}\n$/);
  });

  it('R51: a real process gives a slow reader every byte, and reads no further ahead than the pipe holds', async () => {
    const child = spawn(process.execPath, [list.path, '20000'], { stdio: ['ignore', 'pipe', 'pipe'] });
    const end = ended(child);
    let text = '';
    for await (const chunk of child.stdout) {
      text += String(chunk);
      if (text.length < 200_000)
        await new Promise((resolve) => {
          setTimeout(resolve, 20);
        });
    }
    expect((await end).code).toBe(0);
    const lines = text.trimEnd().split('\n');
    expect(lines).toHaveLength(20_000);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ id: 'row-19999' });
  });

  it("R51: a real process gives a slow reader of a shell's pipe every byte, and leaves the pipe as others expect it", async () => {
    const rows = `"${process.execPath}" "${list.path}" 20000 2>/dev/null`;
    const flags = 'grep flags /proc/self/fdinfo/9 9>&1 >&2';
    const { code, err } = await ended(
      shell(`(${rows}; true) | (sleep 0.3; tail -1 | grep -q row-19999 && echo all >&2)`),
    );
    expect({ code, err }).toEqual({ code: 0, err: 'all\n' });
    const plain = await ended(shell(`${flags} | cat`));
    expect(
      await ended(shell(`("${process.execPath}" "${list.path}" 100; ${flags}) 2> >(grep flags >&2) | cat`)),
    ).toEqual(plain);
  });

  it("R51: a real process ends quietly and stops reading when the reader of a shell's pipe goes away", async () => {
    const rows = `"${process.execPath}" "${list.path}" 10000000`;
    const { code, err } = await ended(shell(`${rows} | head -1; exit \${PIPESTATUS[0]}`));
    expect(code).toBe(0);
    expect(err).toMatch(/^read \d{3,6}\n$/);
  });
});

function shell(command: string): ChildProcess {
  return spawn('bash', ['-c', command], { stdio: ['ignore', 'ignore', 'pipe'] });
}
