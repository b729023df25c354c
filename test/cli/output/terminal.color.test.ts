import { describe, expect, it } from 'vitest';
import { createPalette, showsUnicode, wantsColor } from '../../../src/cli/output/terminal.ts';

describe('colour', () => {
  it.each([
    ['--color before NO_COLOR', 'always', { NO_COLOR: '1', TERM: 'dumb' }, false, true],
    ['--color before FORCE_COLOR', 'never', { FORCE_COLOR: '1' }, true, false],
    ['--color before CLICOLOR_FORCE', 'never', { CLICOLOR_FORCE: '1' }, true, false],
    ['--color before CLICOLOR', 'always', { CLICOLOR: '0' }, true, true],
    ['NO_COLOR before FORCE_COLOR', 'auto', { NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    ['NO_COLOR before CLICOLOR_FORCE', 'auto', { NO_COLOR: '1', CLICOLOR_FORCE: '1' }, true, false],
    ['NO_COLOR before CLICOLOR', 'auto', { NO_COLOR: '1', CLICOLOR: '1' }, true, false],
    ['FORCE_COLOR before CLICOLOR_FORCE', 'auto', { FORCE_COLOR: '0', CLICOLOR_FORCE: '1' }, true, false],
    ['FORCE_COLOR before CLICOLOR', 'auto', { FORCE_COLOR: '1', CLICOLOR: '0' }, false, true],
    ['CLICOLOR_FORCE before CLICOLOR', 'auto', { CLICOLOR_FORCE: '1', CLICOLOR: '0' }, false, true],
    ['CLICOLOR before the terminal', 'auto', { CLICOLOR: '0' }, true, false],
    ['the terminal, where NO_COLOR is empty', 'auto', { NO_COLOR: '' }, true, true],
    ['the terminal, where CLICOLOR_FORCE is 0', 'auto', { CLICOLOR_FORCE: '0' }, false, false],
    ['the terminal, where CLICOLOR is 1', 'auto', { CLICOLOR: '1' }, false, false],
    ['a dumb terminal', 'auto', { TERM: 'dumb' }, true, false],
    ['a terminal', 'auto', {}, true, true],
    ['a pipe', 'auto', {}, false, false],
  ] as const)('color is decided by %s', (_, mode, env, isTerminal, expected) => {
    expect(wantsColor(mode, env, isTerminal)).toBe(expected);
  });

  it('color is painted where it is wanted, whatever the surroundings of the tests', async () => {
    const on = await createPalette('always', {}, { isTerminal: false });
    expect(on.bad('x')).toBe('\u001b[31mx\u001b[39m');
    const off = await createPalette('auto', {}, { isTerminal: false });
    expect(Object.values(off).map((tone) => tone('x'))).toEqual(Array(7).fill('x'));
  });
});

describe('block characters', () => {
  it('block characters need a UTF-8 locale, or a Windows terminal that has them', () => {
    expect(showsUnicode({ LANG: 'de_DE.UTF-8' }, 'linux')).toBe(true);
    expect(showsUnicode({ LANG: 'de_DE.UTF-8', LC_ALL: 'C' }, 'linux')).toBe(false);
    expect(showsUnicode({}, 'linux')).toBe(false);
    expect(showsUnicode({ WT_SESSION: 'x' }, 'win32')).toBe(true);
  });
});
