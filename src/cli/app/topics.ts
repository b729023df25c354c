import type { Example } from './command.ts';

/** The help topics that belong to no command: the word after `svc help`, and its description. */
export const TOPICS = {
  'exit-codes': 'what each exit code and error code means',
  environment: 'environment variables',
  output: 'formats, fields, jq, times, pager; all common options',
  limits: 'limits of the service, and how svc stays within them',
  files: 'what svc stores on this machine, input and output files',
  events: 'webhook events: receive, keep, forward, send again',
  sandbox: 'the service emulated on this machine',
  faults: 'make requests to the sandbox fail',
  outcomes: 'decide the outcomes of 3-D Secure in the sandbox',
  security: 'keys, addresses, card numbers: what svc promises',
} as const;

export type TopicName = keyof typeof TOPICS;

// The pages of docs/help. Only the requested page is loaded.
const PAGES: Readonly<Record<TopicName, () => Promise<{ readonly text: string }>>> = {
  'exit-codes': () => import('../../../docs/help/exit-codes.md'),
  environment: () => import('../../../docs/help/environment.md'),
  output: () => import('../../../docs/help/output.md'),
  limits: () => import('../../../docs/help/limits.md'),
  files: () => import('../../../docs/help/files.md'),
  events: () => import('../../../docs/help/events.md'),
  sandbox: () => import('../../../docs/help/sandbox.md'),
  faults: () => import('../../../docs/help/faults.md'),
  outcomes: () => import('../../../docs/help/outcomes.md'),
  security: () => import('../../../docs/help/security.md'),
};

/** A help page as data, rendered both as terminal text and as the man page. */
export interface Page {
  readonly title: string;
  readonly text?: string | undefined;
  readonly sections: readonly Section[];
}

/** A part of a page under a heading. */
export interface Section {
  readonly title: string;
  /** A few words on the line of the title. */
  readonly line?: string | undefined;
  readonly text?: string | undefined;
  readonly examples?: readonly Example[] | undefined;
  readonly rows?: readonly Row[] | undefined;
}

/** Whether a section has content. Renderers leave out a section without content. */
export function isFilled({ line, text, examples = [], rows = [] }: Section): boolean {
  return line !== undefined || text !== undefined || examples.length + rows.length > 0;
}

export type Row = readonly [term: string, meaning: string];

export async function topicPage(name: TopicName): Promise<Page> {
  const { text: markdown } = await PAGES[name]();
  const [title = '', ...sections] = markdown.split(/^#+ (?=.*\n\n)/m).slice(1);
  return { title: plainText(title), sections: sections.map(readSection) };
}

/** Parses a section of a topic: a heading, then commands with a comment each, paragraphs, or a list of terms. */
function readSection(markdown: string): Section {
  const [title = '', ...content] = markdown.trim().split('\n\n');
  const body = content.join('\n\n');
  const commands = /^```sh\n(.*)\n```$/s.exec(body)?.[1];
  if (commands !== undefined) return { title, examples: commands.split('\n\n').map(readExample) };
  const rows = body.matchAll(/^- \*\*(.+?)\*\*: ((?:.|\n {2})+)/gm);
  const text = plainText(body.replaceAll(/^- (?:.|\n {2})+/gm, ''));
  return {
    title: plainText(title),
    text: text || undefined,
    rows: Array.from(rows, ([, term = '', meaning = '']) => [term.replaceAll('`', ''), plainText(meaning)]),
  };
}

function readExample(text: string): Example {
  const [does = '', line = ''] = text.split('\n');
  return [line, does.replace('# ', '')];
}

/** Removes the markup from a text. Code of more than one word is put in quotes. */
function plainText(markdown: string): string {
  const text = markdown.replaceAll(/`([^`]*)`/g, (_, code: string) => (/\s/.test(code) ? `'${code}'` : code));
  return text.replaceAll(/\s+/g, ' ').trim();
}
