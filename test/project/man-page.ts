import { VERSION } from '../../src/base/version.ts';
import { type Command, commandsBehind, type Entry, exitCodesOf } from '../../src/cli/app/command.ts';
import { commandPage, isFilled, rootPage } from '../../src/cli/app/help.ts';
import { type Page, type Section, type TopicName, topicPage, TOPICS } from '../../src/cli/app/topics.ts';

/** Returns the man page svc(1) in roff: the pages that help shows for the tool, each command and each topic. */
export async function manPage(tree: readonly Entry[]): Promise<string> {
  const { title, sections } = rootPage(tree);
  const [name = '', about = ''] = title.split(': ');
  const lines = [
    `.TH SVC 1 "" "svc ${VERSION}" "svc"`,
    '.SH NAME',
    `${name} \\- ${inline(about)}`,
    '.SH SYNOPSIS',
    '.B svc',
    String.raw`\fIcommand\fR [\fIoptions\fR]`,
  ];
  for (const section of sections.filter((each) => ['Examples', 'Options'].includes(each.title)))
    lines.push(`.SH ${section.title.toUpperCase()}`, ...body(section));
  lines.push('.SH COMMANDS');
  for (const { words, command } of (await Promise.all(tree.map((entry) => commandsBehind(entry)))).flat())
    lines.push(`.SS svc ${inline(words)}`, ...pageLines(await referencePage(command, words)));
  for (const topic of Object.keys(TOPICS) as TopicName[])
    lines.push(`.SH ${topic.replace('-', ' ').toUpperCase()}`, ...pageLines(await topicPage(topic)));
  return `${lines.join('\n')}\n`;
}

// The page of a command also lists its exit codes and fields. EXIT CODES explains the codes once.
async function referencePage(command: Command, words: string): Promise<Page> {
  const page = await commandPage(command, words);
  const fields = [...new Set(command.fields)].map((field) => (field === '*' ? 'any field of the response' : field));
  const sections = page.sections.filter(({ title }) => !/^(Global options|Exit codes)/.test(title));
  const reference = [
    { title: 'Exit codes', text: exitCodesOf(command).join(', ') },
    { title: 'Fields, for --fields, --jq and programs', text: fields.join(', ') || undefined },
  ];
  return { ...page, sections: [...sections, ...reference] };
}

function pageLines({ title, text, sections }: Page): string[] {
  const lines = [line(title), ...(text === undefined ? [] : ['.PP', line(text)])];
  for (const section of sections.filter(isFilled))
    lines.push('.PP', `\\fB${inline(section.title)}\\fR`, '.RS', ...body(section), '.RE');
  return lines;
}

function body({ text, examples = [], rows = [] }: Section): string[] {
  return [
    ...(text === undefined ? [] : [line(text)]),
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
