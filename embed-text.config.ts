import { readFileSync } from 'node:fs';

/** What gives the text of files that are data as modules. */
interface EmbeddedText {
  readonly name: string;
  load(id: string): string | undefined;
}

/** Makes `import { text } from './cards.csv'` the text of the file. For rolldown and Vite. */
export function embeddedText(): EmbeddedText {
  return {
    name: 'embedded-text',
    load: (id) =>
      /\.(csv|css|md)$/.test(id)
        ? `export const text = ${JSON.stringify(readFileSync(id, 'utf8'))};\n`
        : undefined,
  };
}
