import { VERSION } from '../version.ts';
import { type Command, commandsBehind, type Entry, exitCodesOf } from './command.ts';
import { isFilled, type Page, type Section } from './help-page.ts';
import { commandPage, rootPage } from './help.ts';
import { type TopicName, topicPage, TOPICS } from './topics.ts';

// Where files are is told as it is for anybody on Linux.
const ANYBODY = { env: {}, platform: 'linux', home: '~', cwd: '/' } as const;

/** The man page svc(1) in roff: the same pages that help shows, for the tool, each command and each topic. */
export async function manPage(tree: readonly Entry[]): Promise<string> {
  const { title, sections } = rootPage(tree);
  const [name = '', about = ''] = title.split(': ');
  const commands = (await Promise.all(tree.map(commandsBehind))).flat();
  const topics = Object.keys(TOPICS) as TopicName[];
  const lines = [
    `.TH SVC 1 "" "svc ${VERSION}" "svc"`,
    '.SH NAME',
    `${name} \\- ${inline(about)}`,
    '.SH SYNOPSIS',
    '.B svc',
    String.raw`\fIcommand\fR [\fIoptions\fR]`,
    ...sections.filter(({ title: of }) => ['Examples', 'Options'].includes(of)).flatMap(mainSection),
    '.SH COMMANDS',
    ...commands.flatMap(({ words, command }) => subsection(words, command)),
  ];
  for (const topic of topics) lines.push(...topicSection(topic, await topicPage(topic, ANYBODY)));
  return `${lines.join('\n')}\n`;
}

function mainSection(section: Section): string[] {
  return [`.SH ${section.title.toUpperCase()}`, ...body(section)];
}

function subsection(words: string, command: Command): string[] {
  const { title, text, sections } = commandPage(command, words);
  const told = sections
    .filter(isFilled)
    .filter(({ title: of }) => of !== 'Global options' && !of.startsWith('Exit codes'));
  return [
    `.SS svc ${inline(words)}`,
    line(title),
    ...(text === undefined ? [] : ['.PP', line(text)]),
    ...[...told, ...reference(command)].flatMap(headed),
  ];
}

// For those who write programs; what each exit code means stands once, under EXIT CODES.
function reference(command: Command): Section[] {
  const fields = [...new Set(command.fields)].map((field) =>
    field === '*' ? 'any field of the response' : field,
  );
  const sections = [
    { title: 'Exit codes', words: exitCodesOf(command).map(String) },
    { title: 'Fields, for --fields, --jq and programs', words: fields },
  ];
  return sections.filter(isFilled);
}

function topicSection(topic: string, { title, text, sections }: Page): string[] {
  return [
    `.SH ${topic.replace('-', ' ').toUpperCase()}`,
    line(title),
    ...(text === undefined ? [] : ['.PP', line(text)]),
    ...sections.filter(isFilled).flatMap(headed),
  ];
}

function headed(section: Section): string[] {
  return ['.PP', `\\fB${inline(section.title)}\\fR`, '.RS', ...body(section), '.RE'];
}

function body({ text, examples = [], rows = [], words = [] }: Section): string[] {
  return [
    ...(text === undefined ? [] : [line(text)]),
    ...examples.flatMap(([command, does]) => ['.TP', `\\fB${inline(command)}\\fR`, line(does)]),
    ...rows.flatMap(([term, meaning]) =>
      meaning === '' ? ['.PP', line(term)] : ['.TP', `\\fB${inline(term)}\\fR`, line(meaning)],
    ),
    ...(words.length === 0 ? [] : [line(words.join(', '))]),
  ];
}

/** Text at the start of a line, where a dot or a quote would be a request. */
function line(text: string): string {
  return /^[.']/.test(text) ? `\\&${inline(text)}` : inline(text);
}

function inline(text: string): string {
  return text
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll("'", String.raw`\(aq`)
    .replaceAll('`', String.raw`\(ga`)
    .replaceAll('^', String.raw`\(ha`)
    .replaceAll('~', String.raw`\(ti`)
    .replaceAll('"', String.raw`\(dq`)
    .replaceAll(
      /[^\n\x20-\x7e]/gu,
      (character) => `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    );
}
