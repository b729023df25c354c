import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

const PREFIX = '\0text:';
const SUFFIX = '.js';

/** A plugin that provides the text of data files as modules. */
interface EmbeddedText {
  readonly name: string;
  readonly enforce: 'pre';
  resolveId(source: string, importer?: string): string | undefined;
  load(id: string): string | undefined;
}

/** Makes `import { text } from './cards.csv'` import the text of the file. For rolldown and Vite. */
export function embeddedText(): EmbeddedText {
  return {
    name: 'embedded-text',
    enforce: 'pre',
    // A relative name, since the library's files have it in a comment. The suffix keeps Vite from handling a style sheet as one.
    resolveId: (source, importer = '') =>
      /^\..*(?:\.(?:csv|css|md|sh|bash|fish|ps1)|\/_svc)$/.test(source)
        ? PREFIX + relative('', resolve(dirname(importer), source)) + SUFFIX
        : undefined,
    load(id) {
      if (!id.startsWith(PREFIX)) return undefined;
      const text = readFileSync(id.slice(PREFIX.length, -SUFFIX.length), 'utf8');
      return `export const text = ${JSON.stringify(text)};\n`;
    },
  };
}
