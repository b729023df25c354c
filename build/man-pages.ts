// Makes the man pages from the command tree; build.mjs writes them into dist/man.
import { VERSION } from '../src/base/version.ts';
import { type Command, type Entry, exitCodesOf, type Group, isGroup } from '../src/cli/app/command.ts';
import { commandPage, rootPage, topicHelp } from '../src/cli/app/help.ts';
import { isFilled, type Section, topicList, topicPage, type TopicName, TOPICS } from '../src/cli/app/topics.ts';
import { PROGRAM, TREE } from '../src/tree.ts';

/** Returns the man pages in roff by file name: a short svc(1), one page a group, command and topic. */
export async function manPages(): Promise<Map<string, string>> {
  const pages = [rootManPage()];
  for (const entry of TREE) pages.push(...(await pagesBehind(entry, [])));
  for (const topic of Object.keys(TOPICS) as TopicName[]) pages.push(await topicManPage(topic));
  return new Map(pages.map(({ name, section, sections }) => [`${name}.${section}`, written(name, section, sections)]));
}

/** Returns the meanings of exit codes as `svc help exit-codes` explains them. */
export async function exitCodeMeanings(): Promise<ReadonlyMap<number, string>> {
  const { sections } = await topicPage('exit-codes');
  const codes = sections.flatMap(({ rows = [] }) => rows);
  return new Map(codes.map(([code, meaning]) => [Number(code), meaning]));
}

/** A man page: its name, the section of the manual, and its parts. */
interface ManPage {
  readonly name: string;
  readonly section: 1 | 7;
  readonly sections: readonly Section[];
}

function rootManPage(): ManPage {
  const { title, sections } = rootPage(PROGRAM);
  const topics = topicList().map(([name, about]) => [`svc-${name}(7)`, about] as const);
  return {
    name: 'svc',
    section: 1,
    sections: [
      { title: 'Name', text: title.replace(':', ' -') },
      { title: 'Synopsis', text: 'svc <command> [options]' },
      ...sections.filter((section) => section.title === 'Examples'),
      { title: 'Commands', rows: listed(TREE, 'svc') },
      { title: 'Topics', rows: topics },
      { title: 'See also', text: 'svc-output(7) for the options that every command takes' },
    ],
  };
}

async function pagesBehind(entry: Entry, before: readonly string[]): Promise<ManPage[]> {
  const node = await entry.load();
  const words = [...before, entry.name];
  if (!isGroup(node)) return [await commandManPage(node, words)];
  const behind = await Promise.all(node.commands.map((each) => pagesBehind(each, words)));
  return [groupManPage(node, words), ...behind.flat()];
}

function groupManPage({ summary, commands, defaultCommand }: Group, words: readonly string[]): ManPage {
  const name = ['svc', ...words].join('-');
  const main = defaultCommand === undefined ? undefined : `Without a command, it is ${name}-${defaultCommand}(1).`;
  return {
    name,
    section: 1,
    sections: [
      { title: 'Name', text: `${name} - ${summary}` },
      { title: 'Synopsis', text: `svc ${words.join(' ')} <command> [options]` },
      { title: 'Description', text: main },
      { title: 'Commands', rows: listed(commands, name) },
      { title: 'See also', text: 'svc(1)' },
    ],
  };
}

function listed(entries: readonly Entry[], name: string) {
  const shown = entries.filter(({ hidden }) => !hidden);
  return shown.map((entry) => [`${name}-${entry.name}(1)`, entry.summary] as const);
}

async function commandManPage(command: Command, words: readonly string[]): Promise<ManPage> {
  const { sections } = commandPage(command, words.join(' '));
  const part = (title: string): Section => sections.find((section) => section.title === title) ?? { title };
  const fields = [...new Set(command.fields)].map((field) => (field === '*' ? 'any field of the response' : field));
  const name = ['svc', ...words].join('-');
  return {
    name,
    section: 1,
    sections: [
      { title: 'Name', text: `${name} - ${command.summary}` },
      { title: 'Synopsis', text: part('Usage').line },
      { title: 'Description', text: [command.description, command.details].filter(Boolean).join('\n\n') || undefined },
      part('Examples'),
      part('Arguments'),
      part('Options'),
      { title: 'Exit status', rows: await exitRows(command) },
      { title: 'Permissions of the key', text: command.permissions?.join(', ') },
      { title: 'Fields', text: fields.join(', ') || undefined },
      { title: 'See also', text: `${name.replace(/-[^-]*$/, '')}(1), svc-output(7), svc-exit-codes(7)` },
    ],
  };
}

/** Returns all exit codes of a command, each in the words of the command, else in those of the topic. */
async function exitRows(command: Command) {
  const common = await exitCodeMeanings();
  const own = new Map((command.exitCodes ?? []).filter((code) => typeof code !== 'number'));
  return exitCodesOf(command).map((code) => [String(code), own.get(code) ?? common.get(code) ?? ''] as const);
}

async function topicManPage(topic: TopicName): Promise<ManPage> {
  const { title, sections } = await topicHelp(topic);
  const name = `svc-${topic}`;
  return {
    name,
    section: 7,
    sections: [{ title: 'Name', text: `${name} - ${title}` }, ...sections, { title: 'See also', text: 'svc(1)' }],
  };
}

function written(name: string, section: number, sections: readonly Section[]): string {
  const head = `.TH ${inline(name.toUpperCase())} ${section} "" "svc ${VERSION}" "svc"`;
  const lines = [head];
  for (const part of sections.filter(isFilled)) lines.push(`.SH ${inline(part.title.toUpperCase())}`, ...body(part));
  return `${lines.join('\n')}\n`;
}

function body({ text, examples = [], rows = [] }: Section): string[] {
  return [
    ...(text === undefined ? [] : [text.split('\n\n').map(line).join('\n.PP\n')]),
    ...examples.flatMap(([command, does]) => ['.TP', `\\fB${inline(command)}\\fR`, line(does)]),
    ...rows.flatMap(([term, meaning]) =>
      meaning === '' ? ['.PP', line(term)] : ['.TP', `\\fB${inline(term)}\\fR`, line(meaning)],
    ),
  ];
}

/** Escapes text at the start of a line, where roff takes a dot or a quote for a request. */
function line(text: string): string {
  return /^[.']/.test(text) ? `\\&${inline(text)}` : inline(text);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': String.raw`\e`,
  '-': String.raw`\-`,
  "'": String.raw`\(aq`,
  '`': String.raw`\(ga`,
  '^': String.raw`\(ha`,
  '~': String.raw`\(ti`,
  '"': String.raw`\(dq`,
};

function inline(text: string): string {
  return text.replaceAll(/[-\\'`^~"]|[^\n\x20-\x7e]/gu, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return ESCAPES[character] ?? `\\[u${code}]`;
  });
}
