import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isGroup } from '../../src/cli/app/command.ts';
import { TREE } from '../../src/tree.ts';
import { isNode, nodesOf, textOf } from '../support/syntax.ts';

const root = fileURLToPath(new URL('../../src/', import.meta.url));

/** The groups of the tree that are a feature: each has a folder of its own. */
const folders = new Set(readdirSync(root));
const features = TREE.map(({ name }) => name).filter((name) => folders.has(name));

const commands: string[] = [];
for (const entry of TREE) {
  const node = await entry.load();
  if (isGroup(node) && features.includes(entry.name))
    commands.push(...node.commands.map(({ name }) => `${entry.name} ${name}`));
}

const FEATURE = new RegExp(String.raw`\b(?:${features.join('|')})\b`);

/** A command inside a sentence: `svc logs`, or `tenant delete` in quotes or at the start of the text. */
const NAMED = new RegExp(
  String.raw`\bsvc (?:${features.join('|')})\b|(?:^|')(?:(?:au|3ds) |(?:${commands.join('|')})\b)`,
);

/** Text that names a feature, by file, and why it must. */
const EXCEPTIONS: Readonly<Record<string, readonly [text: string, why: string][]>> = {
  'cli/app/embedded-sandbox.ts': [
    ['sandbox clock --reset', 'every command can start the sandbox inside itself'],
    ['sandbox reset …', 'every command can meet a damaged sandbox'],
  ],
  'cli/app/preview.ts': [['sandbox start', 'every command with --sandbox can be shown for curl, which needs a server']],
  'cli/app/hint.ts': [
    ['events', 'no command that is offered gets options for the service, if it uses none'],
    ['sandbox', 'no command that is offered gets options for the service, if it uses none'],
  ],
  'cli/app/global-parameters.ts': [
    ["skip confirmation prompts (except 'tenant delete')", 'the option must name the command that it does not confirm'],
  ],
  'cli/glossary/service.json': [
    [
      "The key lacks a permission for this request, or a feature is not enabled for the tenant. Audit logs contain no refused requests. Run 'svc whoami': it names what this key may do. Add the permission to the key, or use another key. To see since when, read last_at of its actor in 'svc logs stats --since 8h -o json'.",
      'only the audit logs show since when a key is refused',
    ],
  ],
};

describe('the features in the code below them', () => {
  it.each(['cli', 'client'])('the code in src/%s names no feature but for the listed reasons', (folder) => {
    const files = readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:ts|json)$/.test(file))
      .map((file) => path.posix.join(folder, file));
    expect(files.length).toBeGreaterThan(20);
    const found = files.flatMap((file) =>
      namesIn(file, readFileSync(path.join(root, file), 'utf8')).map((text) => `${file}: ${text}`),
    );
    const excepted = Object.entries(EXCEPTIONS).flatMap(([file, texts]) => texts.map(([text]) => `${file}: ${text}`));
    // An exception that is no longer needed has to go.
    expect(found.toSorted()).toEqual(excepted.filter((each) => each.startsWith(`${folder}/`)).toSorted());
  });

  it.each([
    ["throw new SvcError('usage', 'x', { next: ['au', 'jobs'] })", 'au jobs'],
    ["const isAu = words.startsWith('au ')", 'au '],
    ["const isLogs = words[0] === 'logs'", 'logs'],
    ["const rows = [['jobs', 'au jobs']]", 'au jobs'],
    ["const text = `see 'svc tenant show'`", "see 'svc tenant show'"],
    ["const hint = `${what} is listed by 'svc logs archive'`", " is listed by 'svc logs archive'"],
    ["const elsewhere = new Set(['login', 'events'])", 'events'],
  ])('the name of a feature is found in %s', (code, text) => {
    expect(namesIn('x.ts', code)).toContain(text);
  });

  it('the words of the service that are also names of groups are no names of features', () => {
    const code =
      "const types = ['application', 'tenant', 'token']; const subject = 'logs'; const keys = { '3ds': 'private' };";
    expect(namesIn('x.ts', code)).toEqual([]);
    expect(namesIn('x.json', '{ "means": "The logs of the tenant." }')).toEqual([]);
    expect(namesIn('x.json', '{ "means": "Of \'logs review\'." }')).toEqual(["Of 'logs review'."]);
  });
});

/** Returns the texts of a file that name a feature: in a sentence, as the words of a command, or to compare with. */
function namesIn(file: string, content: string): string[] {
  if (file.endsWith('.json')) return stringsOf(JSON.parse(content)).filter((text) => NAMED.test(text));
  // Parsing all files takes a second.
  if (!FEATURE.test(content)) return [];
  const inSets = new Set<unknown>();
  return nodesOf(file, content).flatMap((node) => {
    const { type } = node;
    if (type === 'NewExpression') inSets.add(listOf(node['arguments'])[0]);
    if (type === 'ArrayExpression') {
      const words = listOf(node['elements']).map((element) => textOf(element) ?? '…');
      if (inSets.has(node)) return words.filter(isFeature);
      return isFeature(words[0]) ? [words.join(' ')] : [];
    }
    if (type === 'BinaryExpression') return [textOf(node['left']), textOf(node['right'])].filter(isFeature);
    if (type === 'CallExpression') return listOf(node['arguments']).slice(0, 1).map(textOf).filter(isFeaturePrefix);
    const text = type === 'TemplateElement' ? rawOf(node['value']) : type === 'Literal' ? textOf(node) : undefined;
    return text !== undefined && NAMED.test(text) ? [text] : [];
  });
}

/** Returns the text of a piece of a template. */
function rawOf(value: unknown): string | undefined {
  return isNode(value) ? String(value['raw']) : undefined;
}

function isFeature(text: string | undefined): text is string {
  return text !== undefined && features.includes(text);
}

/** Tells whether a text is compared with the beginning of a command, as in `startsWith('au ')`. */
function isFeaturePrefix(text: string | undefined): text is string {
  return text !== undefined && text.endsWith(' ') && isFeature(text.trim());
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns every name and text of parsed JSON. */
function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (!isNode(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => [name].concat(stringsOf(member)));
}
