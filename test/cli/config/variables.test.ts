import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isSvcError } from '../../../src/base/errors.ts';
import { misspelledVariables, requireSpelledPlaces, VARIABLES } from '../../../src/cli/config/variables.ts';
import { svcHere } from '../../support/run-here.ts';

const help = readFileSync(new URL('../../../docs/help/environment.md', import.meta.url), 'utf8');

function meantBy(env: Record<string, string>, platform: NodeJS.Platform = 'linux'): readonly string[] {
  return misspelledVariables({ env, platform }).map(({ name, meant }) => `${name} ${meant}`);
}

function refusal(env: Record<string, string>): unknown {
  try {
    return requireSpelledPlaces({ env, platform: 'linux' });
  } catch (error) {
    return isSvcError(error, 'config') ? error.hint : error;
  }
}

describe('misspelled variables', () => {
  it('the variables that svc knows are those of its help', () => {
    const listed = [...help.matchAll(/^- \*\*(.+?)\*\*/gm)].flatMap(([, names = '']) => names.split(', '));
    const ours = listed.filter((name) => name.startsWith('SVC_'));
    expect(VARIABLES.filter((name) => !name.endsWith('_FILE')).toSorted()).toEqual(ours.toSorted());
    expect(VARIABLES.filter((name) => name.endsWith('_FILE'))).toHaveLength(3);
  });

  it.each([
    ['SVC_LEDGR', 'SVC_LEDGER'],
    ['SVC_LEDGER_', 'SVC_LEDGER'],
    ['SVC_STATEDIR', 'SVC_STATE_DIR'],
    ['SVC_PROFIEL', 'SVC_PROFILE'],
    ['svc_timeout', 'SVC_TIMEOUT'],
    ['SVC_PRIVATE_API_KEYFILE', 'SVC_PRIVATE_API_KEY_FILE'],
    ['SVC_PRIVATE_KEY', 'SVC_PRIVATE_API_KEY'],
    ['SVC_KEY', 'SVC_API_KEY'],
    ['SVC_URL', 'SVC_BASE_URL'],
    ['SVC_LEDGER_DIR', 'SVC_LEDGER'],
    ['SVC_STATE', 'SVC_STATE_DIR'],
  ])('the variable %s is taken for %s', (name, meant) => {
    expect(meantBy({ [name]: 'x' })).toEqual([`${name} ${meant}`]);
  });

  it.each(['SVC_NAME', 'SVC_PORT', 'SVC_SERVICE_HOST', 'SVC_JOB_ID', 'SVC_EVENT_TYPE', 'SVC_RESULTS', 'LEDGER'])(
    'the variable %s is taken for none, because another program may own it',
    (name) => {
      expect(meantBy({ [name]: 'x' })).toEqual([]);
    },
  );

  it('the names of variables have no letter case on Windows', () => {
    expect(meantBy({ svc_ledger: 'x' }, 'win32')).toEqual([]);
    expect(meantBy({ svc_ledgr: 'x' }, 'win32')).toEqual(['svc_ledgr SVC_LEDGER']);
  });

  it('a variable that may name where paid work is recorded stops work that costs money, unless the right one is set', () => {
    expect(refusal({ SVC_LEDGR: 'x' })).toBe(
      'Nothing was sent: without SVC_LEDGER, rows could be paid for twice. Rename SVC_LEDGR to SVC_LEDGER, or unset it.',
    );
    expect(refusal({ SVC_STATEDIR: '/x' })).toContain('SVC_STATE_DIR');
    expect(refusal({ SVC_LEDGR: 'x', SVC_LEDGER: 'y' })).toBeUndefined();
    expect(refusal({ SVC_PROFIEL: 'x' })).toBeUndefined();
    // Kubernetes sets SVC_LEDGER_PORT for a service of the name svc-ledger.
    expect(refusal({ SVC_STATE: 'ca', SVC_LEDGER_PORT: 'tcp://10.0.0.1:80' })).toBeUndefined();
  });

  it('a command warns of each, and names no value', async () => {
    const { code, stderr } = await svcHere(['--sandbox', 'tenant', 'show'], { env: { SVC_OUTPT: 'canary' } });
    expect(code).toBe(0);
    expect(stderr).toContain('the variable SVC_OUTPT is not one of svc and is not read; did you mean SVC_OUTPUT?');
    expect(stderr).not.toContain('canary');
  });
});
