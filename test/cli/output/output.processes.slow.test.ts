import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { finished, LAUNCHER } from '../../support/svc.ts';
import { type Bundle, bundleProgram } from '../../support/terminal.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const temporary = temporaryDirectory();
let list: Bundle;

beforeAll(async () => {
  list = await bundleProgram(fileURLToPath(new URL('programs/list.ts', import.meta.url)));
});

afterAll(() => {
  list.remove();
});

describe('a real process', () => {
  it('R51: a real process fails when only part of the last write fits, which Node itself does not notice', async () => {
    const path = join(temporary, 'short.txt');
    const command = `ulimit -f 4 && exec "${process.execPath}" "${list.path}" 100 > "${path}"`;
    const { code, stderr } = await finished(shell(command));
    expect(statSync(path).size).toBe(4096);
    expect(stderr).toContain('could not be written (EFBIG)');
    expect(code).toBe(1);
  });

  it.runIf(process.platform === 'linux')(
    'a real process leaves no part of its last write in a file that it appends to, so that the next one begins a line',
    async () => {
      const path = join(temporary, 'appended.txt');
      writeFileSync(path, 'before\n');
      const command = `ulimit -f 20 && exec "${process.execPath}" "${list.path}" 1000 >> "${path}"`;
      const { code, stderr } = await finished(shell(command));
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('could not be written (EFBIG)') });
      const [first, ...rows] = readFileSync(path, 'utf8').split('\n');
      expect({ first, last: rows.pop(), rows: rows.length }).toEqual({ first: 'before', last: '', rows: 100 });
      expect(JSON.parse(rows.at(-1) ?? '')).toMatchObject({ id: 'row-99' });
    },
  );

  it.runIf(process.platform === 'linux')(
    'a real process that writes to the null device, a file or a pipe loads no stream of Node for it',
    async () => {
      const recorder = join(temporary, 'recorder.cjs');
      const loaded = `process.moduleLoadList.filter((name) => /sync_write_stream|NativeModule net$/.test(name))`;
      writeFileSync(recorder, `process.on('exit', () => require('node:fs').writeSync(2, String(${loaded})));`);
      const command = `"${process.execPath}" --require "${recorder}" "${LAUNCHER}" --version`;
      for (const target of ['>/dev/null', `>"${join(temporary, 'version.txt')}"`, '| cat >/dev/null']) {
        expect(await finished(shell(`${command} ${target}`)), target).toMatchObject({ code: 0, stderr: '' });
      }
    },
  );

  it('R51: a real process ends quietly and stops reading when the reader goes away', async () => {
    const child = spawn(process.execPath, [list.path, '10000000'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.once('data', () => child.stdout.destroy());
    const { code, stderr } = await finished(child);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^read \d{3,6}\n$/);
  });

  it('R51: a real process gives a slow reader every byte, and reads no further ahead than the pipe holds', async () => {
    const child = spawn(process.execPath, [list.path, '20000'], { stdio: ['ignore', 'pipe', 'pipe'] });
    const end = once(child, 'close');
    let text = '';
    for await (const chunk of child.stdout) {
      text += String(chunk);
      if (text.length < 200_000)
        await new Promise((resolve) => {
          setTimeout(resolve, 20);
        });
    }
    expect(await end).toEqual([0, null]);
    const lines = text.trimEnd().split('\n');
    expect(lines).toHaveLength(20_000);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ id: 'row-19999' });
  });

  it("R51: a real process gives a slow reader of a shell's pipe every byte, and leaves the pipe as others expect it", async () => {
    const rows = `"${process.execPath}" "${list.path}" 20000 2>/dev/null`;
    const flags = 'grep flags /proc/self/fdinfo/9 9>&1 >&2';
    const { code, stderr } = await finished(
      shell(`(${rows}; true) | (sleep 0.3; tail -1 | grep -q row-19999 && echo all >&2)`),
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'all\n' });
    const plain = await finished(shell(`${flags} | cat`));
    expect(
      await finished(shell(`("${process.execPath}" "${list.path}" 100; ${flags}) 2> >(grep flags >&2) | cat`)),
    ).toEqual(plain);
  });
});

function shell(command: string): ChildProcess {
  return spawn('bash', ['-c', command], { stdio: ['ignore', 'ignore', 'pipe'] });
}
