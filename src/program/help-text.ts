import type { PathsHost } from '../config/paths.ts';
import { commandPage, groupPage, rootPage } from './help.ts';
import { type Page, pageText } from './page.ts';
import type { About } from './parse.ts';
import { topicPage } from './topics.ts';
import { TREE } from './tree.ts';

const ANY_WIDTH = 80;

/** Help as text, in the columns of the terminal where there is one. */
export async function helpText(about: About, host: PathsHost, columns: number | undefined): Promise<string> {
  return pageText(await pageAbout(about, host), columns || ANY_WIDTH);
}

async function pageAbout(about: About, host: PathsHost): Promise<Page> {
  switch (about.kind) {
    case 'tool':
      return rootPage(TREE);
    case 'group':
      return groupPage(about.group);
    case 'command':
      return commandPage(about.command, about.words);
    case 'topic':
      return topicPage(about.topic, host);
  }
}
