import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

const project = fileURLToPath(new URL('../../', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'svc-executables-'));
const canBuild = Number(process.versions.node.split('.')[0]) >= 26;
const name = `svc-${manifest.version}-${process.platform}-${process.arch}`;

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe('the standalone executable', () => {
  it.runIf(canBuild)(
    'runs with nothing beside it, and lies beside its checksum and every licence',
    { timeout: 120_000 },
    () => {
      const { status, stderr } = spawnSync(
        process.execPath,
        ['.release/executables.mjs', '--node', process.execPath, '--out', scratch],
        { cwd: project, encoding: 'utf8' },
      );
      expect({ status, stderr }).toMatchObject({ status: 0 });
      const archive = readFileSync(join(scratch, `${name}.tar.gz`));
      const sum = createHash('sha256').update(archive).digest('hex');
      expect(readFileSync(join(scratch, 'SHA256SUMS'), 'utf8')).toBe(`${sum}  ${name}.tar.gz\n`);
      const beside = ['CHANGELOG.md', 'LICENSE', 'NODE-LICENSE.txt', 'THIRD-PARTY-NOTICES.txt', 'completions', 'svc'];
      expect(readdirSync(join(scratch, name))).toEqual(expect.arrayContaining(beside));

      const home = { SVC_CONFIG_DIR: scratch, SVC_STATE_DIR: scratch, SVC_CACHE_DIR: scratch };
      const run = (...args: string[]): { status: number | null; stdout: string } =>
        spawnSync(join(scratch, name, 'svc'), args, { cwd: scratch, env: home, encoding: 'utf8' });
      expect(run('--version')).toMatchObject({ status: 0, stdout: `${manifest.version}\n` });
      const logs = run('--sandbox', 'logs', '--limit', '2', '-o', 'json');
      expect(JSON.parse(logs.stdout)).toHaveLength(2);
      expect(run('logs', '--no-such-option').status).toBe(2);
    },
  );
});
