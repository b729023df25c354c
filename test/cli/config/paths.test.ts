import { expect, it } from 'vitest';
import type { System } from '../../../src/base/system.ts';
import { directoryOf, requireDirectory } from '../../../src/cli/config/paths.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { testSystem } from './support/system.ts';

function places(parts: Partial<System>): (string | undefined)[] {
  const system = testSystem({ cwd: '/here', ...parts });
  return [directoryOf(system, 'config'), directoryOf(system, 'state'), directoryOf(system, 'cache')];
}

const XDG = { XDG_CONFIG_HOME: '/x/c', XDG_STATE_HOME: '/x/s', XDG_CACHE_HOME: '/x/k' };
const OWN = { SVC_CONFIG_DIR: 'c', SVC_STATE_DIR: '/own/s', SVC_CACHE_DIR: '../k' };

it('the directories are those of the XDG rules on Linux', () => {
  expect(places({ home: '/h' })).toEqual(['/h/.config/svc', '/h/.local/state/svc', '/h/.cache/svc']);
  expect(places({ home: '/h', env: XDG })).toEqual(['/x/c/svc', '/x/s/svc', '/x/k/svc']);
  expect(places({ home: undefined, env: XDG })).toEqual(['/x/c/svc', '/x/s/svc', '/x/k/svc']);
  expect(places({ home: '/h', env: { XDG_CONFIG_HOME: 'relative' } })[0]).toBe('/h/.config/svc');
});

it('the directories are those of macOS and Windows there', () => {
  const mac = ['/h/Library/Preferences/svc', '/h/Library/Application Support/svc', '/h/Library/Caches/svc'];
  expect(places({ platform: 'darwin', home: '/h', env: XDG })).toEqual(mac);
  const windows = { platform: 'win32', home: 'C:\\Users\\op' } as const;
  expect(places(windows)).toEqual([
    'C:\\Users\\op\\AppData\\Roaming\\svc\\Config',
    'C:\\Users\\op\\AppData\\Local\\svc\\State',
    'C:\\Users\\op\\AppData\\Local\\svc\\Cache',
  ]);
  expect(places({ ...windows, env: { APPDATA: 'D:\\a', LOCALAPPDATA: 'D:\\l' } })).toEqual([
    'D:\\a\\svc\\Config',
    'D:\\l\\svc\\State',
    'D:\\l\\svc\\Cache',
  ]);
});

it('the directories are below the profile on Windows where AppData is named by no absolute path', () => {
  for (const APPDATA of ['', 'relative', 'C:relative'])
    expect(places({ platform: 'win32', home: 'C:\\Users\\op', env: { APPDATA } })[0]).toBe(
      'C:\\Users\\op\\AppData\\Roaming\\svc\\Config',
    );
});

it.each([
  ['C:\\own', 'C:\\own'],
  ['C:own', 'C:\\here\\own'],
  ['own/deep', 'C:\\here\\own\\deep'],
  ['\\\\server\\share', '\\\\server\\share\\'],
  ['/own', 'C:\\own'],
])('the directories are where SVC_CONFIG_DIR says on Windows: %s', (SVC_CONFIG_DIR, expected) => {
  expect(places({ platform: 'win32', cwd: 'C:\\here', env: { SVC_CONFIG_DIR } })[0]).toBe(expected);
});

it('the directories are where SVC_…_DIR says, before all else, as they are', () => {
  for (const home of ['/h', undefined])
    expect(places({ home, env: { ...XDG, ...OWN } })).toEqual(['/here/c', '/own/s', '/k']);
  expect(places({ home: '/h', env: { SVC_CONFIG_DIR: '' } })[0]).toBe('/h/.config/svc');
});

it('the directories are never a relative SVC_STATE_DIR, which a change of directory would change', () => {
  for (const [platform, relative] of [
    ['linux', '.svc'],
    ['linux', 'C:\\state'],
    ['win32', 'C:state'],
    ['win32', '.svc'],
  ] as const) {
    const system = testSystem({ platform, env: { SVC_STATE_DIR: relative } });
    const error = expect.objectContaining({ code: 'config', hint: expect.stringContaining('$PWD/') });
    for (const find of [directoryOf, requireDirectory]) expect(() => find(system, 'state')).toThrow(error);
  }
});

it.each([
  ['linux', 'home', 'is a relative path'],
  ['linux', '~', 'contains a literal ~'],
  ['linux', '/h/~/deep', 'contains a literal ~'],
  ['darwin', 'home', 'is a relative path'],
  ['win32', 'C:op', 'is a relative path'],
] as const)('the state directory is never below the HOME of %s that is %j', (platform, home, problem) => {
  const system = testSystem({ platform, home });
  expect(() => directoryOf(system, 'state')).toThrow(
    expect.objectContaining({ code: 'config', message: expect.stringContaining(`HOME ${problem}`) }),
  );
  expect(directoryOf(system, 'cache')).toBeDefined();
  const chosen = platform === 'win32' ? 'D:\\state' : '/state';
  expect(directoryOf(testSystem({ platform, home, env: { SVC_STATE_DIR: chosen } }), 'state')).toBe(chosen);
});

it.each([
  ['SVC_STATE_DIR', ['--sandbox', 'logs']],
  ['SVC_CONFIG_DIR', ['profile', 'set', 'base_url', 'https://api.example.com']],
])('the hint names %s where the home directory cannot have it', async (variable, argv) => {
  const { code, stderr } = await svcHere(argv, { home: '/proc/none', cwd: '/' });
  expect([code, errorIn({ stderr })['hint']]).toEqual([1, expect.stringContaining(`${variable} names one`)]);
});

it.each([undefined, ''])('R10: the directories are none without a home (%j), which only a writer minds', (home) => {
  expect(places({ home })).toEqual([undefined, undefined, undefined]);
  for (const kind of ['config', 'state', 'cache'] as const)
    expect(() => requireDirectory(testSystem({ home }), kind)).toThrow(
      expect.objectContaining({
        code: 'config',
        hint: expect.stringContaining(`SVC_${kind.toUpperCase()}_DIR`) as unknown,
      }),
    );
});
