// Reads the pages of help topics, which are Markdown.

import type { Example } from './command.ts';

/** The help topics that belong to no command: the word after `svc help`, its description, and its page, which is loaded on demand. */
export const TOPICS = {
  'exit-codes': {
    about: 'what each exit code and error code means',
    load: () => import('../../../docs/help/exit-codes.md'),
  },
  environment: { about: 'environment variables', load: () => import('../../../docs/help/environment.md') },
  output: {
    about: 'formats, fields, jq, times, pager; all common options',
    load: () => import('../../../docs/help/output.md'),
  },
  limits: {
    about: 'limits of the service, and how svc stays within them',
    load: () => import('../../../docs/help/limits.md'),
  },
  files: {
    about: 'what svc stores on this machine, input and output files',
    load: () => import('../../../docs/help/files.md'),
  },
  events: {
    about: 'webhook events: receive, keep, forward, send again',
    load: () => import('../../../docs/help/events.md'),
  },
  sandbox: { about: 'the service emulated on this machine', load: () => import('../../../docs/help/sandbox.md') },
  faults: { about: 'make requests to the sandbox fail', load: () => import('../../../docs/help/faults.md') },
  outcomes: {
    about: 'decide the outcomes of 3-D Secure in the sandbox',
    load: () => import('../../../docs/help/outcomes.md'),
  },
  security: {
    about: 'keys, addresses, card numbers: what svc promises',
    load: () => import('../../../docs/help/security.md'),
  },
} as const;

export type TopicName = keyof typeof TOPICS;

/** Returns the names of the topics, with their descriptions. */
export function topicList(): (readonly [name: string, about: string])[] {
  return Object.entries(TOPICS).map(([name, { about }]) => [name, about]);
}

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
  const { text: markdown } = await TOPICS[name].load();
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
