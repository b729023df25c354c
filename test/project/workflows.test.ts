import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readBlocks } from '../support/readme-blocks.ts';
import type { Job, Step } from '../support/workflows.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));

interface Document {
  readonly on?: unknown;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs?: Readonly<Record<string, Job>>;
  readonly runs?: { readonly steps: readonly Step[] };
}

const github = readdirSync(join(project, '.github'), { recursive: true, encoding: 'utf8' });
const FILES = github.filter((name) => name.endsWith('.yml')).map((name) => join('.github', name));
const PAGES = ['docs/account-updater-in-ci.md', 'docs/testing-3ds.md'];

/** Every text that a runner may execute: the project's workflows and action, and the workflows that readers copy. */
const TEXTS: readonly (readonly [name: string, text: string])[] = [
  ...FILES.map((name) => [name, read(name)] as const),
  ...PAGES.flatMap((name) =>
    readBlocks(read(name))
      .filter(({ language }) => language === 'yaml')
      .map(({ text }) => [name, text] as const),
  ).filter(([, text]) => text.includes('jobs:')),
];
const WORKFLOWS = TEXTS.filter(([, text]) => text.includes('jobs:'));

/** The permissions to write that these jobs need. All other jobs may only read. */
const WRITES: Readonly<Record<string, readonly string[]>> = {
  attest: ['attestations', 'id-token'],
  npm: ['id-token'],
  files: ['contents'],
};

it('the action saves and restores the state under keys that begin with those of its own workflow only', () => {
  const text = read('.github/actions/svc/action.yml');
  const { outputs, runs } = parse(text) as { outputs: Record<string, { value: string }>; runs: { steps: Step[] } };
  const key = '${{ steps.install.outputs.state-prefix }}${{ github.run_id }}-${{ github.run_attempt }}';
  expect(outputs['state-key']?.value).toBe(key);
  const restoring = runs.steps.find(({ uses }) => uses?.startsWith('actions/cache/restore@'));
  expect(restoring?.with).toMatchObject({ key, 'restore-keys': '${{ steps.install.outputs.state-prefix }}' });
});

// The linter of `npm run check:unused` checks further rules.
describe('the workflows', () => {
  it('the workflows are there, the action and the two recipes with them', () => {
    expect(TEXTS).toHaveLength(5);
    expect(WORKFLOWS).toHaveLength(4);
  });

  it.each(TEXTS)(
    '%s: other people’s actions are pinned by their whole commit, with its version beside it',
    (_, text) => {
      const used = [...text.matchAll(/uses: (.+)/g)].map(([, name = '']) => name);
      const wanted = /^(\.\/\.github\/actions\/svc|actions\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/;
      expect(used.filter((name) => !wanted.test(name))).toEqual([]);
      expect(used.length).toBeGreaterThan(0);
    },
  );

  it('the workflows use the same commit of an action everywhere', () => {
    const commits = new Map<string, Set<string>>();
    for (const [, text] of TEXTS)
      for (const [, name = '', commit = ''] of text.matchAll(/uses: (actions\/[\w-]+)[\w/-]*@(.+)/g))
        commits.set(name, (commits.get(name) ?? new Set()).add(commit));
    expect([...commits].filter(([, versions]) => versions.size > 1)).toEqual([]);
  });

  it.each(TEXTS)('%s: no script has text from outside put into it, and bash can read each', (_, text) => {
    const scripts = stepsOf(parse(text) as Document).flatMap(({ run }) => run ?? []);
    expect(scripts.filter((script) => script.includes('${{'))).toEqual([]);
    for (const script of scripts)
      expect(spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });

  it.each(WORKFLOWS)('%s: reads only, unless a job is there to write, and ends by itself', (_, text) => {
    const { permissions, jobs = {} } = parse(text) as Document;
    expect(permissions).toEqual({ contents: 'read' });
    const writing = Object.entries(jobs).filter(([, job]) => job.permissions !== undefined);
    for (const [name, job] of writing) {
      expect(Object.keys(job.permissions ?? {}), name).toEqual(WRITES[name]);
      // A job that may write runs no code of the project.
      expect(job.steps.filter(({ uses, run = '' }) => uses?.includes('checkout') || run.includes('npm ci'))).toEqual(
        [],
      );
    }
    expect(Object.values(jobs).filter((job) => job['timeout-minutes'] === undefined)).toEqual([]);
  });

  it.each(WORKFLOWS)('%s: code from outside never meets a secret or a right to write', (_, text) => {
    expect(text).not.toMatch(/pull_request_target|workflow_run|issue_comment|secrets: inherit/);
    const checkouts = stepsOf(parse(text) as Document).filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    expect(checkouts.filter((step) => step.with?.['persist-credentials'] !== false)).toEqual([]);
  });

  it('the action takes no key: keys come from the environment of the steps that need them', () => {
    const { inputs } = parse(read('.github/actions/svc/action.yml')) as { inputs: Record<string, unknown> };
    expect(Object.keys(inputs)).toEqual(['version', 'sha256', 'file', 'state']);
  });
});

function stepsOf({ jobs = {}, runs }: Document): Step[] {
  return [...Object.values(jobs).flatMap(({ steps }) => steps), ...(runs?.steps ?? [])];
}

function read(name: string): string {
  return readFileSync(join(project, name), 'utf8');
}
